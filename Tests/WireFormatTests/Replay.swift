import AirHockey
import CaromCore
import CaromProtocol
import CaromSimulation

/// One side of a recorded session, which receives the bytes that the other side sent.
///
/// It reads the game's messages as the game does: a malformed one is a protocol violation. Once the
/// connection is open, it sends as many carriers as the recorded side did, because the other side's
/// bytes contain acknowledgements of them.
struct Replay {
  struct Message: Equatable {
    let channel: UInt8
    let bytes: [UInt8]
  }

  private(set) var events: [HostEvent] = []
  private(set) var messages: [Message] = []
  private(set) var sent: [UInt8] = []
  private(set) var action: LinkAction?

  private var machine: Host
  private let id: ConnectionID
  private var carriers: Int
  private var match = RecordedHost()
  private var visit = RecordedClient()

  /// The host, which grants the request that it receives.
  static func host(of session: RecordedSession) -> Replay {
    let now = session.now
    var replay = Replay(nameless, seats: 1, carriers: session.carriersToClient)
    _ = replay.machine.accept(replay.id, at: now)
    return replay
  }

  /// The client, which has requested a seat.
  static func client(of session: RecordedSession) -> Replay {
    var replay = Replay(leo, seats: 0, carriers: session.carriersToHost)
    replay.machine.handleStreamConnected(replay.id, at: session.now)
    return replay
  }

  private init(_ local: PeerInfo, seats: Int, carriers: Int) {
    self.carriers = carriers
    machine = Host(local, seats: seats)
    id = machine.makeConnectionID()
  }

  /// Receives a chunk of bytes.
  mutating func receive(_ bytes: Span<UInt8>, at now: Instant) {
    machine.receive(bytes, on: id, at: now)
    drain(at: now)
  }

  /// Reports the end of the stream.
  mutating func end(_ end: LinkEnd, at now: Instant) {
    machine.handleLinkEnd(end, of: id, at: now)
    drain(at: now)
  }

  /// Handles timeouts until none is armed; returns false if they do not end.
  mutating func runOut(from start: Instant) -> Bool {
    var now = start
    for _ in 0..<64 {
      guard let due = machine.nextTimeout else { return true }
      now = max(now, due)
      machine.handleTimeout(at: now)
      drain(at: now)
    }
    return machine.nextTimeout == nil
  }

  /// The number of times that the end was reported.
  var endings: Int { events.count { if case .closed = $0 { true } else { false } } }
  /// Whether the end, if it was reported, was reported once and as the last event.
  var endsQuietly: Bool {
    guard endings > 0, case .closed? = events.last else { return endings == 0 }
    return endings == 1
  }

  /// Discards the events, messages and bytes so far.
  mutating func discardOutput() {
    events = []
    messages = []
    sent = []
  }

  private mutating func drain(at now: Instant) {
    handleEvents(at: now)
    while true {
      sendCarrier(at: now)
      guard let bytes = machine.pollTransmit(on: id, queued: 0, at: now) else { break }
      sent += bytes
      handleEvents(at: now)
    }
    handleEvents(at: now)
    if action == nil { action = machine.pollLinkAction(on: id) }
    machine.didFlush(id, at: now)
  }

  private mutating func sendCarrier(at now: Instant) {
    guard carriers > 0, machine.connection(id)?.isOpen == true else { return }
    carriers -= 1
    do throws(SendError) { try machine.send([], on: 63, to: id, at: now) } catch { carriers = 0 }
  }

  private mutating func handleEvents(at now: Instant) {
    while let event = machine.pollEvent() {
      events.append(event)
      switch event {
      case .requested(let id, _, _): machine.admit(id, at: now)
      case .connection(_, .opened): match.addClient()
      case .connection(let id, .messages): readMessages(of: id, at: now)
      default: break
      }
    }
  }

  private mutating func readMessages(of id: ConnectionID, at now: Instant) {
    while let message = machine.pollMessage(on: id) {
      messages.append(Message(channel: message.channel, bytes: message.bytes))
      let isValid =
        machine.isIncoming(id)
        ? play(message.bytes, message.channel) : watch(message.bytes, message.channel)
      if !isValid {
        machine.close(id, Goodbye(.protocolViolation), as: .protocolViolation, at: now)
      }
    }
  }

  private mutating func play(_ bytes: [UInt8], _ channel: UInt8) -> Bool {
    match.step(home: MalletInput(x: 0, y: 0))
    while match.pollMessage() != nil {}
    do throws(DecodeError) {
      switch channel {
      case 0: try match.receive(.inputs, bytes.span, at: .zero)
      case 1:
        let packet = try RollbackPacket(decoding: bytes.span)
        try match.receive(packet.message, packet.bytes.span, at: .zero)
      case 2: return try MatchNotice(decoding: bytes.span) == .finish
      default: return false
      }
      return true
    } catch { return false }
  }

  private mutating func watch(_ bytes: [UInt8], _ channel: UInt8) -> Bool {
    // Of the inputs that arrive in one chunk only the last are delivered, so that the client runs
    // ahead of what the host acknowledges in them.
    for _ in 0..<4 { visit.step(MalletInput(x: 0, y: 0)) }
    while visit.pollMessage() != nil {}
    do throws(DecodeError) {
      switch channel {
      case 0: try visit.receive(.inputs, bytes.span, at: .zero)
      case 1:
        let packet = try RollbackPacket(decoding: bytes.span)
        try visit.receive(packet.message, packet.bytes.span, at: .zero)
      case 2: return try MatchNotice(decoding: bytes.span) != .finish
      default: return false
      }
      return true
    } catch { return false }
  }
}
