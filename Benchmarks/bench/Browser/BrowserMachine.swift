import Carom

/// The session protocol of a player in a browser.
struct BrowserMachine {
  /// Whether the host has granted a seat.
  private(set) var isOpen = false
  /// The datagrams to send that were not taken yet.
  private var datagrams: [[UInt8]] = []
  /// The messages of the game that have arrived and were not taken yet.
  private var messages = 0
  private var connection: ClientConnection

  init(number: Int) {
    let peer = BrowserRun.peer(number)
    let key = ConnectionKey(prefix: 0x9E37_79B9_7F4A_7C15, rest: peer.id.low)
    connection = ClientConnection(as: peer, key: key, timing: SessionTiming())
  }

  /// Begins the stream. Returns what to send on it.
  mutating func connect() -> [UInt8] {
    _ = connection.addStream(at: NetworkLoop.now)
    return drain()
  }

  /// Begins to use datagrams.
  mutating func openDatagrams() {
    _ = connection.openDatagrams(at: NetworkLoop.now)
    _ = drain()
  }

  /// Whether datagrams carry the messages.
  mutating func usesDatagrams() -> Bool { connection.findLink() == .datagram }

  /// Receives bytes of the stream. Returns what to send on it.
  mutating func receive(_ bytes: Span<UInt8>) -> [UInt8] {
    connection.receive(bytes, at: NetworkLoop.now)
    return drain()
  }

  mutating func receiveDatagram(_ bytes: Span<UInt8>) -> [UInt8] {
    connection.receiveDatagram(bytes, at: NetworkLoop.now)
    return drain()
  }

  /// Does what is due. Returns what to send on the stream.
  mutating func handleTimeouts() -> [UInt8] {
    let now = NetworkLoop.now
    guard let next = connection.findTimeout(), next <= now else { return [] }
    connection.handleTimeout(at: now)
    return drain()
  }

  /// Sends an input. Returns what to send on the stream.
  mutating func send(_ input: [UInt8]) throws -> [UInt8] {
    try connection.send(
      input.span, on: BrowserRun.channel, SendOptions(.unreliable), at: NetworkLoop.now)
    return drain()
  }

  /// Takes a message that has arrived. Returns false if there is none.
  mutating func takeMessage() -> Bool {
    guard messages > 0 else { return false }
    messages -= 1
    return true
  }

  /// Removes and returns the datagrams to send.
  mutating func takeDatagrams() -> [[UInt8]] {
    defer { datagrams.removeAll(keepingCapacity: true) }
    return datagrams
  }

  /// Handles the events of the connection, and returns what it has to send on the stream.
  private mutating func drain() -> [UInt8] {
    var output: [UInt8] = []
    repeat {
      while let event = connection.pollEvent() { handle(event) }
      var hasMore = true
      while hasMore {
        hasMore = connection.pollDatagram(at: NetworkLoop.now) {
          datagrams.append(Array(copying: $0))
        }
      }
      hasMore = true
      while hasMore {
        hasMore = connection.pollTransmit(queued: 0, at: NetworkLoop.now) {
          output.append(copying: $0)
        }
      }
    } while connection.hasEvents
    return output
  }

  private mutating func handle(_ event: ConnectionEvent) {
    switch event {
    case .opened: isOpen = true
    case .messages:
      var arrived = 0
      while connection.pollMessage({ _, _ in arrived += 1 }) {}
      messages += arrived
    default: break
    }
  }
}
