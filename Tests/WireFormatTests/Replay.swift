import AirHockey
import CaromCore
import CaromProtocol
import CaromSimulation

/// One side of a recorded session, fed with what the other side sent, and what it makes of it.
///
/// It reads the game's messages as the game does: one that is malformed breaks the protocol. When
/// it is open it sends as many carriers as the recorded side did, since those are acknowledged to
/// it.
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
  private let link: ConnectionID
  private var carriers: Int
  private var match = HostedMatch(at: .zero)
  private var visit = JoinedMatch(at: .zero)
  private var watcher = 0

  /// The host, which waits for a request and grants it.
  static func host(of session: RecordedSession) -> Replay {
    let now = session.now
    var replay = Replay(nameless, seats: 1, carriers: session.carriersToGuest)
    _ = replay.machine.accept(replay.link, at: now)
    return replay
  }

  /// The guest, which has asked for a seat.
  static func guest(of session: RecordedSession) -> Replay {
    var replay = Replay(leo, seats: 0, carriers: session.carriersToHost)
    replay.machine.handleStreamConnected(replay.link, at: session.now)
    return replay
  }

  private init(_ local: PeerInfo, seats: Int, carriers: Int) {
    self.carriers = carriers
    machine = Host(local, seats: seats)
    link = machine.makeConnectionID()
  }

  /// Bytes came, in one piece.
  mutating func receive(_ bytes: Span<UInt8>, at now: Instant) {
    machine.receive(bytes, on: link, at: now)
    drain(at: now)
  }

  /// The link broke.
  mutating func end(_ end: LinkEnd, at now: Instant) {
    machine.handleLinkEnd(end, of: link, at: now)
    drain(at: now)
  }

  /// Lets deadlines pass until there are none; `false` where they do not end.
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

  /// How often it told its end, and whether anything was told after that.
  var endings: Int { events.count { if case .closed = $0 { true } else { false } } }
  var endsQuietly: Bool {
    guard endings > 0, case .closed? = events.last else { return endings == 0 }
    return endings == 1
  }

  /// Forgets what was told so far.
  mutating func forget() {
    events = []
    messages = []
    sent = []
  }

  private mutating func drain(at now: Instant) {
    take(at: now)
    while true {
      sendCarrier(at: now)
      guard let bytes = machine.pollTransmit(on: link, queued: 0, at: now) else { break }
      sent += bytes
      take(at: now)
    }
    take(at: now)
    if action == nil { action = machine.pollLinkAction(on: link) }
    machine.didFlush(link, at: now)
  }

  private mutating func sendCarrier(at now: Instant) {
    guard carriers > 0, machine.connection(link)?.isOpen == true else { return }
    carriers -= 1
    do throws(SendError) { try machine.send([], on: 63, to: link, at: now) } catch { carriers = 0 }
  }

  private mutating func take(at now: Instant) {
    while let event = machine.pollEvent() {
      events.append(event)
      switch event {
      case .requested(let link, _, _): machine.admit(link, at: now)
      case .connection(_, .opened): watcher = match.seatGuest(same: false, at: now)
      case .connection(let link, .messages): takeMessages(of: link, at: now)
      default: break
      }
    }
  }

  private mutating func takeMessages(of link: ConnectionID, at now: Instant) {
    while let message = machine.pollMessage(on: link) {
      messages.append(Message(channel: message.channel, bytes: message.bytes))
      let isKnown =
        machine.isIncoming(link)
        ? play(message.bytes, message.channel) : watch(message.bytes, message.channel)
      if !isKnown {
        machine.close(link, Goodbye(.protocolViolation), as: .protocolViolation, at: now)
      }
    }
  }

  private mutating func play(_ bytes: [UInt8], _ channel: UInt8) -> Bool {
    _ = match.step(home: MalletInput(x: 0, y: 0))
    while match.pollMessage() != nil {}
    do throws(DecodeError) {
      switch channel {
      case 0: try match.receive(.inputs, bytes.span, from: watcher, at: .zero)
      case 1:
        let packet = try RollbackPacket(decoding: bytes.span)
        try match.receive(packet.message, packet.bytes.span, from: watcher, at: .zero)
      case 2: return try TableWord(decoding: bytes.span) == .finish
      default: return false
      }
      return true
    } catch { return false }
  }

  private mutating func watch(_ bytes: [UInt8], _ channel: UInt8) -> Bool {
    visit.step(MalletInput(x: 0, y: 0), at: .zero)
    while visit.pollMessage() != nil {}
    do throws(DecodeError) {
      switch channel {
      case 0: try visit.receive(.inputs, bytes.span, at: .zero)
      case 1:
        let packet = try RollbackPacket(decoding: bytes.span)
        try visit.receive(packet.message, packet.bytes.span, at: .zero)
      case 2: return try TableWord(decoding: bytes.span) != .finish
      default: return false
      }
      return true
    } catch { return false }
  }
}
