import CaromCore
import CaromProtocol
import CaromSimulation
import CaromTransport

/// A client's side of a rollback match that a session's host serves. The client plays the match or
/// watches it.
///
/// The host tells the client which player it controls. The client's clock and input delay adapt to
/// the round-trip time, so that the host gets the inputs in time on short and long paths alike.
///
/// ```swift
/// let match = try await RollbackClient<Race>.join(host, over: session)
/// for await _ in match.ticks {
///   match.advance(with: controls.sample())
///   while let event = match.pollEvent() { show(event) }
/// }
/// print(match.endReason)
/// ```
///
/// A frame loop calls `update` once per frame instead, on any thread. A match is not `Sendable`:
/// only one task or thread may use it.
public final class JoinedRollback<Game: Simulation & PacketCodable> {
  /// Something that happened to the match, rather than in the game.
  public enum Notice: Hashable, Sendable {
    /// The host has told the client which player it controls; nil for a spectator.
    case seated(player: Int?)
    /// The host used other inputs in place of at least half of the player's inputs from the last
    /// second, because the player's inputs arrived too late.
    case inputsLate
    /// The player's inputs arrive in time again.
    case inputsOnTime
    /// The client's state differs from the state that the host computed. The host sends the whole
    /// state again.
    case desynced(DesyncReport)
    /// No link reaches the host. The match continues if a link reaches the host again within
    /// `SessionTiming.resumeLimit`.
    case interrupted
    /// A link reaches the host again.
    case resumed
    /// The connection to the host has ended, and the match with it.
    case left(DisconnectReason)
    /// The oldest notices were dropped because they were not polled in time. `notices` is their
    /// number.
    case missed(notices: Int)
  }

  /// The maximum number of notices that wait for `pollNotice()`. Beyond it, the oldest are dropped,
  /// and a notice says how many.
  static var noticeLimit: Int { 256 }
  /// The time for which the first state waits for the first measurement of the round-trip time.
  /// Without one, the game starts too late by a round trip, and so do the player's inputs.
  static var measuringLimit: Duration { .seconds(1) }
  /// The interval at which the round-trip time is read.
  static var roundTripInterval: Duration { .milliseconds(100) }
  /// The maximum number of ticks that are simulated after the connection to the host has ended, to
  /// reach the last inputs that arrived.
  static var finalTickLimit: Int { 600 }

  /// The session over which the match is played.
  public let session: Session
  /// The host that serves the match.
  public let host: Peer
  /// The channels of the match.
  public let channels: RollbackChannels
  /// The client: the game with its prediction, clock and statistics, and the settings that can be
  /// changed at any time.
  public var client: RollbackClient<Game>
  /// The reason why the connection to the host has ended, or nil while it has not.
  public private(set) var endReason: DisconnectReason?

  /// The time at which the host's last inputs arrived, or nil before the first.
  public private(set) var lastInputs: Instant?

  private let watch: PeerWatch
  private let meter: RoundTripMeter
  private var measuredAt: Instant
  private let measuringDeadline: Instant
  /// The time at which the client leaves the host unless the first state has arrived; nil for never
  /// and once it has arrived.
  private var deadline: Instant?
  var notices = EventQueue<Notice>(limit: noticeLimit)
  private var due = 0
  private var writer = PacketWriter(capacity: 512)
  private var wasSeated = false
  private var wereInputsLate = false

  /// Creates the client's side of a match, which waits for its seat and the first state. `window`
  /// is the prediction window and `inputDelay` the minimum input delay, both in ticks. `roundTrip`
  /// is the round-trip time to the host, if it is already known. If the first state has not arrived
  /// within `stateLimit`, the client leaves the host, with the reason `timedOut`; nil for no limit.
  public init(
    _ host: Peer, over session: Session, channels: RollbackChannels = RollbackChannels(),
    window: Int = SimulationLimits.window, inputDelay: Int = 0, roundTrip: Duration? = nil,
    stateLimit: Duration? = nil
  ) {
    self.session = session
    self.host = host
    self.channels = channels
    let now = session.loop.now
    client = RollbackClient(window: window, inputDelay: inputDelay, at: now)
    client.roundTrip = roundTrip ?? .zero
    measuredAt = now
    measuringDeadline = now + Self.measuringLimit
    deadline = stateLimit.map { now + $0 }
    channels.open(over: session)
    // Inputs before the first state are of no use. These may be left of an earlier match.
    _ = session.takeMessages(on: channels.inputs)
    watch = PeerWatch(session, expecting: [host])
    meter = RoundTripMeter(host, first: roundTrip)
    meter.refresh()
  }

  /// The player that this client controls; nil for a spectator, and before the host has assigned
  /// it.
  public var player: Int? { client.player }
  /// The game as predicted for the present, or nil before the first state has arrived.
  public var state: Game? { client.state }
  /// The round-trip time to the host, or nil if it is unknown.
  public var roundTrip: Duration? { meter.roundTrip }

  /// Removes and returns the next event of the game, or nil if there is none.
  public func pollEvent() -> RollbackEvent<Game.Event>? { client.pollEvent() }

  /// Removes and returns the next notice about the match, or nil if there is none.
  public func pollNotice() -> Notice? { notices.popFirst { .missed(notices: $0) } }

  // MARK: Ticks

  /// The ticks of the match, each delivered when it is due, until the connection to the host ends.
  /// Call `advance(with:)` once for each tick. The element is the tick that will be simulated, or 0
  /// before the first state has arrived.
  public var ticks: MatchTicks {
    MatchTicks(loop: session.loop) { [self] in
      if due == 0 { receive() }
      if endReason != nil { return .end }
      return due > 0 ? .simulate(client.rollback?.tick ?? .zero) : .wait(until: client.nextTick)
    }
  }

  /// Whether a tick is due, according to the last call of `receive`.
  public var isTickDue: Bool { due > 0 }

  /// Processes the events and messages that have arrived, simulates the ticks that are due with the
  /// inputs that `input` returns for them, and sends the host what it needs. Call this method once
  /// per frame.
  public func update(
    at now: Instant? = nil, _ input: (JoinedRollback<Game>) -> Game.Input = { _ in Game.Input() }
  ) {
    receive(at: now)
    while due > 0 { advance(with: input(self)) }
  }

  /// Simulates one tick with the player's input, which is ignored for a spectator. After the last
  /// tick that is due, sends the inputs. Returns whether the tick was simulated or has stalled, or
  /// nil before the first state.
  @discardableResult
  public func advance(with input: Game.Input = Game.Input()) -> Rollback<Game>.Outcome? {
    let outcome = client.advance(with: input)
    due = max(0, due - 1)
    takeReports()
    if due == 0 { send() }
    return outcome
  }

  /// Processes the events and messages that have arrived, and counts the ticks that are due.
  public func receive(at now: Instant? = nil) {
    guard endReason == nil else { return }
    let now = now ?? session.loop.now
    measureRoundTrip(at: now)
    // The events come first: the messages before the host's goodbye are then all there.
    while let event = watch.next() { handle(event) }
    if watch.hasEnded { endReason = endReason ?? .closedLocally }
    let startingTicks = receiveControl(at: now)
    for received in session.takeMessages(on: channels.inputs) where received.peer == host {
      receive(.inputs, received.message.bytes, on: channels.inputs.id, at: received.arrival)
    }
    takeReports()
    leaveIfLate(at: now)
    guard endReason == nil else { return end() }
    due = max(due + client.takeDueTicks(at: now), startingTicks)
    send()
  }

  /// Processes the messages on the control channel. Returns the number of ticks to simulate at once
  /// if the first state was among them, and 0 otherwise.
  private func receiveControl(at now: Instant) -> Int {
    let isMeasuring = meter.roundTrip == nil && now < measuringDeadline
    // What the match needs to end is processed even while the first state waits.
    guard client.rollback != nil || endReason != nil || !isMeasuring else { return 0 }
    var startingTicks = 0
    for received in session.takeMessages(on: channels.control) where received.peer == host {
      let packet = received.message
      // What precedes the seat is left of an earlier match.
      guard client.isSeated || packet.message == .seat else { continue }
      let hadState = client.rollback != nil
      receive(packet.message, packet.bytes, on: channels.control.id, at: received.arrival)
      if !hadState, client.rollback != nil {
        startingTicks = client.startingTicks(since: received.arrival, at: now)
      }
    }
    return startingTicks
  }

  /// Leaves a host whose first state has not arrived in time.
  private func leaveIfLate(at now: Instant) {
    guard let deadline else { return }
    if client.rollback != nil { return self.deadline = nil }
    guard now >= deadline else { return }
    endReason = endReason ?? .timedOut
    host.disconnect(Goodbye(.timedOut), as: .timedOut)
  }

  private func measureRoundTrip(at now: Instant) {
    if let roundTrip = meter.roundTrip, roundTrip != client.roundTrip {
      client.roundTrip = roundTrip
    }
    guard meter.roundTrip == nil || now - measuredAt >= Self.roundTripInterval else { return }
    measuredAt = now
    meter.refresh()
  }

  private func handle(_ event: PeerEvent) {
    switch event {
    case .interrupted(host): notices.append(.interrupted)
    case .resumed(host): notices.append(.resumed)
    case .left(host, let reason): endReason = endReason ?? reason
    case .missed: watch.begin()
    default: break
    }
  }

  private func takeReports() {
    if client.isSeated, !wasSeated {
      wasSeated = true
      notices.append(.seated(player: client.player))
    }
    while let report = client.pollDesync() { notices.append(.desynced(report)) }
    if client.areInputsLate != wereInputsLate {
      wereInputsLate = client.areInputsLate
      notices.append(wereInputsLate ? .inputsLate : .inputsOnTime)
    }
  }

  /// Simulates the ticks whose inputs arrived before the connection ended.
  private func end() {
    due = 0
    let behind = client.rollback.map { Int($0.tick.distance(to: $0.confirmableTick)) } ?? 0
    for _ in 0..<min(max(1, behind), Self.finalTickLimit) { client.advance() }
    if let endReason { notices.append(.left(endReason)) }
  }

  // MARK: Messages

  private func receive(
    _ message: RollbackMessage, _ bytes: [UInt8], on channel: UInt8, at now: Instant
  ) {
    do throws(DecodeError) {
      try client.receive(message, bytes.span, at: now)
      if message == .inputs { lastInputs = now }
    } catch {
      endReason = endReason ?? .protocolViolation
      host.reject(channel)
    }
  }

  private func send() {
    while true {
      writer.removeAll()
      guard let message = client.pollTransmit(into: &writer) else { return }
      channels.post(message, writer.bytes, to: host)
    }
  }
}

extension RollbackClient {
  /// Joins the match that a session's host serves: waits until the host has assigned a player or a
  /// spectator's place and the first state has arrived. `window` is the prediction window and
  /// `inputDelay` the minimum input delay, both in ticks.
  ///
  /// Throws `SessionError.refused` if the connection ends first. Throws `SessionError.transport`
  /// with `timedOut` if the host serves no match within `limit`, and with `cancelled` if the task
  /// is cancelled.
  public static func join(
    _ host: Peer, over session: Session, channels: RollbackChannels = RollbackChannels(),
    window: Int = SimulationLimits.window, inputDelay: Int = 0,
    within limit: Duration = .seconds(10)
  ) async throws(SessionError) -> JoinedRollback<Game> {
    let match = JoinedRollback<Game>(
      host, over: session, channels: channels, window: window, inputDelay: inputDelay,
      roundTrip: await host.statistics?.roundTrip)
    let deadline = session.loop.now + limit
    for await _ in match.ticks {
      if match.state != nil { return match }
      guard session.loop.now < deadline else { throw .transport(.timedOut) }
      match.advance()
    }
    if match.state != nil { return match }
    throw match.endReason.map { .refused($0) } ?? .transport(.cancelled)
  }
}
