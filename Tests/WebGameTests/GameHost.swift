import CaromCore
import CaromProtocol
import CaromSimulation

@testable import WebGame

/// The host of a match of a page's player, who is player 1, on the time of the test. Bytes arrive
/// 20 ms after they were written.
struct GameHost {
  private static let delay = Duration.milliseconds(20)

  /// The match.
  private(set) var match: RollbackHost<Step, ConnectionID>
  /// The reasons for which connections have ended.
  private(set) var ended: [DisconnectReason] = []
  private var host: Host
  private var stream: ConnectionID?
  private var toHost: [(arrival: Instant, bytes: [UInt8])] = []
  private var toEngine: [(arrival: Instant, bytes: [UInt8])] = []

  init(application: String = "steps", at now: Instant) {
    host = Host(
      PeerInfo(id: PeerID(high: 1, low: 1), name: "Maya", application: application), seats: 1)
    match = RollbackHost(
      RollbackServer(Step(), players: 2, rate: 50, at: now), remotePlayers: [1])
  }

  /// Accepts a stream from the engine.
  mutating func accept(at now: Instant) {
    let id = host.makeConnectionID()
    if host.accept(id, at: now) { stream = id }
  }

  /// Breaks the stream. What is on the way is lost.
  mutating func breakStream(at now: Instant) {
    (toHost, toEngine) = ([], [])
    if let stream { host.handleLinkEnd(.reset, of: stream, at: now) }
    stream = nil
  }

  /// Sends bytes on a channel.
  mutating func send(_ bytes: [UInt8], on channel: UInt8, at now: Instant) {
    guard let stream else { return }
    _ = try? host.send(bytes.span, on: channel, SendOptions(.reliableOrdered), to: stream, at: now)
    drain(at: now)
  }

  /// Passes bytes between the engine and the host, and plays the ticks that are due.
  mutating func exchange(with engine: GameEngine<some Simulation>, at now: Instant) {
    let sent = engine.takeOutput(upTo: 1 << 16, queued: 0, at: now)
    if !sent.isEmpty { toHost.append((now + Self.delay, sent)) }
    while let next = toHost.first, next.arrival <= now {
      toHost.removeFirst()
      if let stream { host.receive(next.bytes.span, on: stream, at: now) }
      drain(at: now)
    }
    if let timeout = host.nextTimeout, now >= timeout { host.handleTimeout(at: now) }
    playDueTicks(at: now)
    drain(at: now)
    while let next = toEngine.first, next.arrival <= now {
      toEngine.removeFirst()
      engine.receive(next.bytes.span, at: now)
    }
  }

  private mutating func playDueTicks(at now: Instant) {
    for _ in 0..<match.server.takeDueTicks(at: now) { match.advance() }
    var writer = PacketWriter()
    while let (id, message) = match.pollTransmit(into: &writer) {
      let isInputs = message == .inputs
      let bytes = isInputs ? writer.bytes : RollbackPacket(message, writer.bytes).encoded
      let delivery = isInputs ? Delivery.unreliableSequenced : .reliableOrdered
      _ = try? host.send(
        bytes.span, on: isInputs ? 54 : 55, SendOptions(delivery), to: id, at: now)
      writer.removeAll()
    }
  }

  private mutating func drain(at now: Instant) {
    repeat {
      while let event = host.pollEvent() { handle(event, at: now) }
      while let id = host.pollReady() {
        var sent: [UInt8] = []
        var hasSent = true
        while hasSent {
          hasSent = host.pollTransmit(on: id, queued: 0, at: now) { sent.append(copying: $0) }
        }
        if !sent.isEmpty { toEngine.append((now + Self.delay, sent)) }
        if host.pollLinkAction(on: id) != nil { stream = nil }
        host.didFlush(id, at: now)
      }
    } while host.hasEvents
  }

  private mutating func handle(_ event: HostEvent, at now: Instant) {
    switch event {
    case .requested(let id, _, _): host.admit(id, at: now)
    case .connection(let id, .opened(let info)): match.add(id, peer: info.id, as: 1)
    case .connection(let id, .messages): receiveMessages(on: id, at: now)
    case .adopted(_, let owner): stream = owner
    case .closed(let id, _, let reason, _):
      ended.append(reason)
      match.remove(id)
    default: break
    }
  }

  private mutating func receiveMessages(on id: ConnectionID, at now: Instant) {
    var messages: [(channel: UInt8, bytes: [UInt8])] = []
    while host.pollMessage(on: id, { messages.append(($0, Array(copying: $1))) }) {}
    for (channel, bytes) in messages {
      if channel == 54 {
        try? match.receive(.inputs, bytes.span, from: id, at: now)
      } else if let packet = try? RollbackPacket(decoding: bytes.span) {
        try? match.receive(packet.message, packet.bytes.span, from: id, at: now)
      }
    }
  }
}
