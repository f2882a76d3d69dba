import AirHockey
import AirHockeyTerminal
import Carom
import CaromSimulation

/// A match over the network on this computer, as the host, a client or a spectator.
///
/// Each computer simulates the whole match; only inputs are sent. The host's simulation is
/// authoritative, and the other computers predict ahead of it. The game ends when a player quits or
/// the time limit, if any, is reached. A game with a time limit also ends when the peer leaves.
actor NetGame: LoopActor {
  /// The role of this computer in the match, with its side of the match.
  enum Role {
    /// No connection has been opened yet, so the role is not known.
    case undecided
    /// This computer accepted its peers' connections, and its simulation is authoritative.
    case host(HostedRollback<Rink>)
    /// This computer joined a host's match, as a player or as a spectator.
    case client(JoinedRollback<Rink>)
  }

  /// The timers of a game, each nil until it is first needed.
  struct Timers {
    /// The timer that plays the due ticks and draws a frame at `frameDue`.
    var frame: LoopTimer?
    var frameDue = Instant.zero
    /// The timer that leaves the host some time after this side has requested or received the final
    /// score.
    var ending: LoopTimer?
  }

  /// The measurements for the status line and the summary.
  struct Meters {
    var network = NetworkMeter()
    var tickJitter = JitterMeter()
    var rate = RateMeter()
  }

  nonisolated let loop: NetworkLoop
  let setup: Setup
  var session: Session?
  var display: any GameDisplay = NoDisplay()
  var role = Role.undecided
  /// The other player, or the host if this side is a spectator or plays another client of the host.
  /// Nil on a host that does not play itself.
  var opponent: Peer?
  /// The players of the two seats: on a host that does not play itself, its clients; on a client or
  /// spectator, the names that the host has sent.
  var names = SeatValues<String?>(nil, nil)
  /// The seats at a table whose host does not play itself, and the peers that have them.
  var clientSeats: ClientSeats
  var clientPeers = SeatValues<Peer?>(nil, nil)
  /// The id of the last client on a host, whose match and score are restored when it returns; nil
  /// if there has been no client.
  var lastClient: PeerID?
  /// Whether no link to the opponent works.
  var isInterrupted = false
  /// Whether this host has paused the match because no link to the opponent works.
  var hasPaused = false
  /// The requests of the player at this computer on a client. One is carried out per tick.
  var requests: [RinkInput.Request] = []
  /// The requests of the player at this computer and of the rules on a host.
  var homeRequests = HomeRequests()
  /// Smooths the corrections of a client's prediction.
  var view = RinkView()
  var timers = Timers()
  var meters = Meters()
  var summary = Summary(role: "host")
  var recording: RecordingFile?
  var computer: ComputerPlayer
  /// The number of desyncs with the host.
  var desyncs = 0
  /// The number of the host's keyframes that were checked.
  var keyframes = 0
  /// The final score that the host has sent, with the number of its match; nil until it has
  /// arrived.
  var finalScore: (match: UInt16, score: Score)?
  /// The number of the last match whose winner was announced on this computer, or nil if no winner
  /// has been announced.
  var lastWonMatch: UInt16?
  var isPlaying = false
  /// The last announcement, displayed while no match is played.
  var announcement: String?
  /// The QR code of the page's address, displayed like the announcement.
  private(set) var code: QRCode?
  private var inputWatch: DescriptorWatch?
  /// The tables of a host that has several, if this game shows that host's screen.
  var hall: TableHall?
  /// The matches of which this table's is one, at a host with several tables.
  var matches: ConcurrentMatches?
  /// What this side has to do with a fleet, as a host or as a player; nil if it has nothing.
  var fleet: FleetHosting?
  var player: FleetPlaying?
  private var endings: [CheckedContinuation<Void, Never>] = []
  /// Those who wait until this side has left its session.
  private var plays: [CheckedContinuation<Void, Never>] = []
  private(set) var isOver = false
  /// Whether the network failed before play began.
  private(set) var wasAbandoned = false
  private(set) var seatsChanged: @Sendable (_ free: Int) -> Void = { _ in }

  init(_ setup: Setup, on loop: NetworkLoop) {
    self.setup = setup
    self.loop = loop
    summary.security = setup.policy.rawValue
    computer = ComputerPlayer(.home, strength: setup.strength, seed: .random(in: 0 ... .max))
    clientSeats = ClientSeats(strength: setup.strength, seed: .random(in: 0 ... .max))
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

  /// Plays with the peers of a session until the game ends. If this side is not known to host, it
  /// hosts as soon as a peer has joined it. Calls `seatsChanged` with the number of seats that are
  /// free or can be had from a computer player, whenever it changes.
  func play(
    over session: Session, isHost: Bool = false,
    seatsChanged: @escaping @Sendable (_ free: Int) -> Void = { _ in }
  ) async {
    session.rejectMessages(
      exceptOn: player == nil ? GameWire.channels : GameWire.fleetChannels)
    (self.session, self.seatsChanged) = (session, seatsChanged)
    if isOver { await session.node.retire() }
    // A fleet says when the match of a table begins.
    if isHost, !isOver, fleet == nil, hall == nil { becomeHost() }
    // A game that ends with its opponent must not admit another player before the next frame.
    await session.observe { [weak self, loop] event in
      guard case .left = event else { return }
      loop.post { self?.assumeIsolated { $0.opponentMayHaveLeft() } }
    }
    await withCheckedContinuation { continuation in
      let hasLeft = isOver || player?.departure != nil
      if hasLeft { continuation.resume() } else { plays.append(continuation) }
    }
  }

  /// Lets `play` return: the game is over, or goes on over another session.
  func leaveSession() {
    for play in plays { play.resume() }
    plays = []
  }

  private func opponentMayHaveLeft() {
    if !isOver { receive(at: loop.now) }
  }

  /// Plays until the game ends, and returns its summary.
  func finish() async -> Summary {
    await waitForEnd()
    return summary
  }

  private func waitForEnd() async {
    await withCheckedContinuation { continuation in
      if isOver { continuation.resume() } else { endings.append(continuation) }
    }
  }

  /// Ends the game because of a network error before play began, which the command reports.
  func abandon() {
    wasAbandoned = !isOver
    end("abandoned")
  }

  /// Displays a line of text to the players at this computer and, while nobody has joined, the
  /// code. Must be called on the loop.
  nonisolated func announce(_ line: String, code: QRCode? = nil) {
    assumeIsolated { game in
      (game.announcement, game.code) = (line, code)
      game.display.write(line)
      for line in code?.lines ?? [] { game.display.write(line) }
    }
  }

  /// Displays a line that those who run this game need to know. Must be called on the loop.
  func warn(_ line: String) {
    announcement = line
    display.warn(line)
  }

  // MARK: Frames

  private func armFrame(at due: Instant) {
    timers.frameDue = due
    timers.frame?.arm(at: due)
  }

  /// Runs the next frame as soon as the loop gets to it.
  func runFrameNow() { armFrame(at: loop.now) }

  /// Handles what has arrived, plays the ticks that are due and draws one frame.
  private func frame() {
    let now = loop.now
    if Interrupts.isRequested, fleet == nil, matches == nil { return interrupted() }
    // A host of a fleet or an exhibit serves others than those who read its lines.
    if fleet == nil, setup.kiosk == nil, display.hasLostReader { return outputLost() }
    carryOut(display.readCommands(at: now) ?? [])
    receive(at: now)
    play(at: now)
    guard runFleet(at: now) else { return }
    present(at: now)
    setup.health?.expectTick(by: nextTick, at: now)
    armFrame(at: nextTick ?? max(timers.frameDue + setup.waitingFrame, now))
  }

  /// Ends the game on a signal. A host that runs for weeks sends everybody the score before.
  private func interrupted() {
    guard setup.kiosk != nil, case .host(let match) = role else { return end("interrupted") }
    finishHosting(match, "interrupted")
  }

  /// Ends the game because nobody reads its lines any more.
  private func outputLost() {
    summary.status = .ioFailed
    end(Summary.outputLost)
  }

  /// The time at which the next tick is due, or nil while no match is played.
  private var nextTick: Instant? {
    guard isPlaying else { return nil }
    return switch role {
    case .undecided: nil
    case .host(let match): match.server.nextTick
    case .client(let match): match.client.nextTick
    }
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
      if command == .quit { return end("quit") }
      carryOut(command)
    }
  }

  private func play(at now: Instant) {
    if isPlaying { meters.tickJitter.record(now - timers.frameDue) }
    let before = summary.ticks
    while !isOver, step(at: now) {
      guard isPlaying else { continue }
      summary.ticks += 1
      if summary.ticks == setup.tickLimit { timeIsUp() }
    }
    meters.rate.record(summary.ticks - before, at: now)
    if !isOver { record() }
  }

  // MARK: The end

  /// Ends the game on this computer and sends a goodbye to its peers. Further calls have no effect.
  func end(_ reason: String, _ goodbye: Goodbye = Goodbye(.left)) {
    guard !isOver else { return }
    isOver = true
    if let hall { summary = hall.assumeIsolated { $0.close() } }
    timers.frame?.cancel()
    timers.ending?.cancel()
    inputWatch = nil
    record()
    recording?.finish()
    summary.recordingTrouble = recording?.takeTrouble() ?? summary.recordingTrouble
    summary.recordings = recording?.paths ?? []
    // The other tables of this one's host go on, and its hall ends with the scores.
    let last = hall == nil ? goodbye : Goodbye(.finished)
    if matches == nil { session?.node.assumeIsolated { $0.retire(last) } }
    display.close()
    summarize(reason)
    leaveSession()
    player?.waiter.take()?.resume()
    for ending in endings { ending.resume() }
    endings = []
  }

  private func summarize(_ reason: String) {
    summary.score = finalScore?.score ?? confirmedState?.score ?? summary.score
    summary.endReason = reason
    if hall == nil {
      summary.timing = Summary.Timing(
        tickJitter: meters.tickJitter, stateAge: meters.network.stateAge)
      summary.prediction = Summary.Prediction(meters.network, role, desyncs: desyncs)
    }
    summary.bytesSent = Int(bytes.sent)
    summary.bytesReceived = Int(bytes.received)
  }

  /// The state after the last confirmed tick, or nil if there is none.
  var confirmedState: RinkState? {
    switch role {
    case .undecided: nil
    case .host(let match): match.server.state.state
    case .client(let match): match.client.confirmedState?.state
    }
  }

  // MARK: Recording

  /// Records the ticks that have been confirmed since the previous call.
  func record() {
    guard recording != nil else { return }
    switch role {
    case .undecided: break
    // Before the first tick, nobody has played.
    case .host(let match):
      if match.server.tick > .zero { recording?.record(match.server) }
    case .client(let match): recording?.record(match.client)
    }
    if let line = recording?.takeTrouble() {
      summary.recordingTrouble = line
      display.write(line)
    }
  }
}
