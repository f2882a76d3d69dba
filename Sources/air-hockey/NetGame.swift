import AirHockey
import AirHockeyTerminal
import Carom

/// A match over the network on this computer, as the host, a client or a spectator.
///
/// Each computer simulates the whole match; only inputs are sent. The host's simulation is
/// authoritative, and the other computers predict ahead of it. The session ends when a player quits
/// or the time limit, if any, is reached. A session with a time limit also ends when the peer
/// leaves.
actor NetGame: LoopActor {
  /// The role of this computer in the match, with the machine that simulates the match in that
  /// role.
  enum Role {
    /// No connection has been opened yet, so the role is not known.
    case undecided
    /// This computer accepted its peers' connections, and its simulation is authoritative.
    case host(HostedMatch)
    /// This computer joined a host's match, as a player or as a spectator.
    case client(JoinedMatch)

    var hosted: HostedMatch? { if case .host(let match) = self { match } else { nil } }
    var joined: JoinedMatch? { if case .client(let match) = self { match } else { nil } }

    /// Returns the result of `body`, which may change the hosted match. Returns nil without calling
    /// `body` if this computer is not a host.
    @discardableResult
    mutating func withHosted<Value, Failure: Error>(
      _ body: (inout HostedMatch) throws(Failure) -> Value
    ) throws(Failure) -> Value? {
      guard case .host(var match) = self else { return nil }
      self = .undecided  // keeps the match uniquely referenced, so that no array is copied
      defer { self = .host(match) }
      return try body(&match)
    }

    /// Returns the result of `body`, which may change the joined match. Returns nil without calling
    /// `body` if this computer is not a client.
    @discardableResult
    mutating func withJoined<Value, Failure: Error>(
      _ body: (inout JoinedMatch) throws(Failure) -> Value
    ) throws(Failure) -> Value? {
      guard case .client(var match) = self else { return nil }
      self = .undecided
      defer { self = .client(match) }
      return try body(&match)
    }
  }

  /// The connections of the match.
  struct Connections {
    /// The other player, or the host if this side is a spectator.
    var opponent: ConnectionID?
    /// On a host, the connections of the client and the spectators, keyed by their ids in
    /// `HostedMatch`.
    var recipients: [Int: ConnectionID] = [:]
    /// The id of the last client on a host, whose match and score are restored when it returns; nil
    /// if there has been no client.
    var lastClient: PeerID?
    /// Whether no link to the opponent works.
    var isInterrupted = false
    /// Whether this host has paused the match because no link to the opponent works.
    var hasPaused = false

    /// Returns the id of a connection in `HostedMatch`, or nil if the connection has none.
    func recipient(_ connection: ConnectionID) -> Int? {
      recipients.first { $0.value == connection }?.key
    }
  }

  /// The timers of a game, each nil until it is first needed.
  struct Timers {
    /// The timer that plays the due ticks and draws a frame at `frameDue`.
    var frame: LoopTimer?
    var frameDue = Instant.zero
    /// The timer that closes the session after the final score has been sent or received.
    var ending: LoopTimer?
    /// The timer that makes this player leave a host that has admitted the player but sends no
    /// state.
    var firstState: LoopTimer?

    func cancel() {
      frame?.cancel()
      ending?.cancel()
      firstState?.cancel()
    }
  }

  /// The measurements for the status line and the summary.
  struct Meters {
    var network = NetworkMeter()
    var tickJitter = JitterMeter()
    var rate = RateMeter()
  }

  /// How long a client that has reached its time limit waits for the host's final score.
  static let finalScoreLimit = Duration.seconds(1)

  nonisolated let loop: NetworkLoop
  let setup: Setup
  let node: SessionNode
  var display: any GameDisplay = NoDisplay()
  var role = Role.undecided
  var connections = Connections()
  var timers = Timers()
  var meters = Meters()
  var summary: Summary
  var recording: RecordingFile?
  var computer: ComputerPlayer
  /// The final score that the host has sent, with the number of its match; nil until it has
  /// arrived.
  var finalScore: (match: UInt16, score: Score)?
  /// The number of the last match whose winner was announced on this computer, or nil if no winner
  /// has been announced.
  var lastWonMatch: UInt16?
  var isPlaying = false
  /// The last announcement, displayed while no match is played.
  var announcement: String?
  private var inputWatch: DescriptorWatch?
  private var ending: CheckedContinuation<Void, Never>?
  private(set) var isOver = false
  /// Whether the network failed before play began.
  private(set) var wasAbandoned = false
  let seatFreed: @Sendable () -> Void
  let seatTaken: @Sendable (PeerInfo) -> Void

  /// Creates a game that calls `seatTaken` when a player has joined, and `seatFreed` when the seat
  /// is free again.
  init(
    _ setup: Setup, node: SessionNode,
    seatTaken: @escaping @Sendable (PeerInfo) -> Void = { _ in },
    seatFreed: @escaping @Sendable () -> Void = {}
  ) {
    self.setup = setup
    self.node = node
    loop = node.loop
    self.seatFreed = seatFreed
    self.seatTaken = seatTaken
    summary = Summary(role: "host")
    summary.security = setup.policy.rawValue
    computer = ComputerPlayer(.home, strength: setup.strength, seed: .random(in: 0 ... .max))
  }

  /// Opens the display and shows the empty table until a match begins.
  func begin(
    with makeDisplay: @Sendable () throws(CommandFailure) -> any GameDisplay
  ) throws(CommandFailure) {
    display = try makeDisplay()
    do throws(CommandFailure) {
      recording = try setup.recording.map { path throws(CommandFailure) in try .init(path) }
    } catch {
      display.close()
      throw error
    }
    if let descriptor = display.inputDescriptor {
      // Without a watch, input is read before each frame only.
      inputWatch = try? DescriptorWatch(on: loop, owner: self, descriptor: descriptor) { game in
        game.inputArrived()
      }
    }
    timers.frame = LoopTimer(on: loop, owner: self) { game in game.frame() }
    armFrame(at: loop.now)
    if let notice = setup.notice { display.write(notice) }
  }

  /// Plays until the session ends, and returns its summary.
  func finish() async -> Summary {
    await withCheckedContinuation { continuation in
      if isOver { continuation.resume() } else { ending = continuation }
    }
    return summary
  }

  /// Ends the session because of a network error before play began; the caller reports the error.
  func abandon() {
    wasAbandoned = !isOver
    end("abandoned", nil)
  }

  /// Displays a line of text to the players at this computer. Must be called on the loop.
  nonisolated func announce(_ line: String) {
    assumeIsolated { game in
      game.announcement = line
      game.display.write(line)
    }
  }

  // MARK: Frames

  func armFrame(at due: Instant) {
    timers.frameDue = due
    timers.frame?.arm(at: due)
  }

  /// The time at which the next tick of the match is due, or nil while the role of this computer is
  /// undecided.
  var nextTick: Instant? {
    switch role {
    case .undecided: nil
    case .host(let match): match.nextTick
    case .client(let match): match.nextTick
    }
  }

  /// Plays the ticks that are due and draws one frame.
  private func frame() {
    let now = loop.now
    if Interrupts.isRequested { return end("interrupted", Goodbye(.left)) }
    carryOut(display.readCommands(at: now) ?? [])
    guard !isOver else { return }
    if isPlaying { play(at: now) }
    guard !isOver else { return }
    sendMatch()
    present(at: now)
    let next = isPlaying ? nextTick : nil
    armFrame(at: next ?? max(timers.frameDue + setup.waitingFrame, now))
  }

  /// Reads input as soon as it arrives, so that the input counts in the next tick.
  private func inputArrived() {
    guard !isOver, let commands = display.readCommands(at: loop.now) else {
      // A terminal that has hung up is always readable, but has nothing to read.
      inputWatch = nil
      return
    }
    carryOut(commands)
  }

  private func carryOut(_ commands: [Controls.Command]) {
    for command in commands {
      if command == .quit { return end("quit", Goodbye(.left)) }
      carryOut(command)
    }
  }

  private func play(at now: Instant) {
    meters.tickJitter.record(now - timers.frameDue)
    let due =
      role.withHosted { $0.takeDueTicks(at: now) } ?? role.withJoined { $0.takeDueTicks(at: now) }
      ?? 0
    meters.rate.record(due, at: now)
    for _ in 0..<due {
      guard isPlaying, !isOver else { return }
      step(at: now)
      summary.ticks += 1
      if summary.ticks == setup.tickLimit { timeIsUp() }
    }
    guard !isOver else { return }
    record()
  }

  private func timeIsUp() {
    guard case .client = role, !setup.isSpectator, let host = connections.opponent else {
      if case .host = role { return finishHosting() }
      return end("finished", Goodbye(.finished))
    }
    sendMatch()
    send(.finish, on: .notices, to: host)
    closeSoon()
  }

  // MARK: The end

  /// Ends the session on this computer and sends a goodbye to the peer. Further calls have no
  /// effect.
  func end(_ reason: String, _ goodbye: Goodbye?) {
    guard !isOver else { return }
    isOver = true
    timers.cancel()
    inputWatch = nil
    record()
    recording?.finish()
    summary.recordingTrouble = recording?.takeTrouble() ?? summary.recordingTrouble
    summary.recordings = recording?.paths ?? []
    node.assumeIsolated { $0.retire(goodbye ?? Goodbye(.left)) }
    display.close()
    summarize(reason)
    ending?.resume()
    ending = nil
  }

  private func summarize(_ reason: String) {
    let (hosted, joined) = (role.hosted, role.joined)
    if let score = hosted?.state.score ?? finalScore?.score ?? joined?.confirmed?.score {
      summary.score = score
    }
    summary.endReason = reason
    summary.timing = Summary.Timing(
      tickJitter: meters.tickJitter, stateAge: meters.network.stateAge)
    summary.prediction = Summary.Prediction(
      meters.network, joined, lateInputs: hosted?.missedInputs)
    let (sent, received) = node.assumeIsolated { ($0.bytesSent, $0.bytesReceived) }
    summary.bytesSent = Int(sent)
    summary.bytesReceived = Int(received)
  }

  // MARK: Drawing

  private func present(at now: Instant) {
    var view = currentView(at: now)
    view.status = status(at: now)
    view.isStatusWhole = setup.showsNetwork
    if setup.isSpectator { view.hint = "q quit" }
    display.present(view)
    if isPlaying { summary.frames += 1 }
  }

  private func status(at now: Instant) -> String {
    if connections.isInterrupted, let peer = summary.peer {
      return "no connection to \(peer) · waiting for its return"
    }
    guard let opponent = connections.opponent,
      let statistics = node.assumeIsolated({ $0.statistics(of: opponent) })
    else { return [setup.name, setup.notice].compactMap(\.self).joined(separator: " · ") }
    let bytes = node.assumeIsolated { ($0.bytesSent, $0.bytesReceived) }
    let joined = role.joined
    if isPlaying {
      meters.network.recordFrame(statistics, gap: joined?.predictedTicks ?? 0, at: now)
    }
    if meters.network.endSecond(statistics, bytes, joined, at: now), setup.showsNetwork {
      display.write(meters.network.line)
    }
    if setup.showsNetwork { return meters.network.line }
    let roundTrip = (statistics.roundTrip ?? .zero).inMilliseconds
    return "\(meters.rate.perSecond) Hz · \(summary.transport ?? "") · round trip "
      + "\((roundTrip * 10).rounded() / 10) ms" + (summary.fingerprint.map { " · \($0)" } ?? "")
  }

  private func currentView(at now: Instant) -> TableView {
    let names = (own: setup.name, other: summary.peer ?? "")
    if let hosted = role.hosted, isPlaying {
      return TableView(hosted.state, seenFrom: .home, names: names)
    }
    guard let state = role.joined?.shown(at: now), isPlaying || !setup.isSpectator else {
      return waitingView
    }
    if setup.isSpectator {
      return TableView(
        state, seenFrom: .home, names: (summary.peer ?? "", summary.watchedClient ?? "nobody"))
    }
    return TableView(state, seenFrom: .away, names: names)
  }

  private var waitingView: TableView {
    var view = TableView(RinkState(), seenFrom: .home, names: (setup.name, ""))
    view.puck = nil
    let detail = [setup.waiting, setup.notice, announcement].compactMap(\.self)
      .joined(separator: " · ")
    view.banner = TableView.Banner("Waiting", detail: detail)
    return view
  }
}
