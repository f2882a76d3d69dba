import Carom

/// The session protocol of a player in a browser: a connection whose only link is a stream.
struct BrowserMachine {
  /// Whether the host has granted a seat.
  private(set) var isOpen = false
  /// The messages of the game that have arrived and were not taken yet.
  private var messages = 0
  private var host: Host
  private let id: ConnectionID

  init(number: Int) {
    host = Host(BrowserRun.peer(number), seats: 0)
    id = host.makeConnectionID()
  }

  /// Begins the stream. Returns what to send.
  mutating func connect() -> [UInt8] {
    let key = ConnectionKey(prefix: 0x9E37_79B9_7F4A_7C15, rest: host.local.id.low)
    _ = host.handleStreamConnected(id, key: key, at: NetworkLoop.now)
    return drain()
  }

  /// Receives bytes of the stream. Returns what to send.
  mutating func receive(_ bytes: Span<UInt8>) -> [UInt8] {
    host.receive(bytes, on: id, at: NetworkLoop.now)
    return drain()
  }

  /// Returns the bytes that carry an input.
  mutating func send(_ input: [UInt8]) throws -> [UInt8] {
    try host.send(
      input.span, on: BrowserRun.channel, SendOptions(.unreliable), to: id, at: NetworkLoop.now)
    return drain()
  }

  /// Takes a message that has arrived. Returns false if there is none.
  mutating func takeMessage() -> Bool {
    guard messages > 0 else { return false }
    messages -= 1
    return true
  }

  /// Handles the events of the connection, and returns what it has to send.
  private mutating func drain() -> [UInt8] {
    var output: [UInt8] = []
    repeat {
      while let event = host.pollEvent() { handle(event) }
      host.markReadyIfNeeded(id)
      while let ready = host.pollReady() {
        var hasMore = true
        while hasMore {
          hasMore = host.pollTransmit(on: ready, queued: 0, at: NetworkLoop.now) {
            output.append(copying: $0)
          }
        }
        host.didFlush(ready, at: NetworkLoop.now)
      }
    } while host.hasEvents
    return output
  }

  private mutating func handle(_ event: HostEvent) {
    switch event {
    case .connection(_, .opened): isOpen = true
    case .connection(_, .messages):
      var arrived = 0
      while host.pollMessage(on: id, { _, _ in arrived += 1 }) {}
      messages += arrived
    default: break
    }
  }
}
