import AirHockey
import AirHockeyTerminal
import Carom

/// A match over the network at this end: host, guest or watcher, whichever the connection makes it.
///
/// The whole match runs at each end; inputs are what travels. The host decides, the others run
/// ahead of its word. The session ends when the time is up, when somebody quits, and, where a time
/// was given, with the peer.
actor NetGame: LoopActor {
  /// What this end is to do.
  struct Setup: Sendable {
    var name: String
    var bot: Bool
    var strength: Strength
    /// The session's length, if it has one: then it also ends with its peer.
    var tickLimit: Int?
    /// The whole matches after which the host ends the session.
    var matchLimit: Int?
    /// Whether the table opens again when a peer is lost.
    var reopens = true
    /// Whether this end only looks on.
    var isWatching = false
    /// Whether the figures of the network are told each second.
    var tellsNetwork = false
    /// Where the match is recorded.
    var recording: String?
    var waiting = "waiting for a player"
    /// How long a host may take from the grant to its first state.
    var firstStateLimit = Duration.seconds(5)
  }

  /// How long a guest whose time is up waits for the host's last word.
  static let lastWordLimit = Duration.seconds(1)
  /// From one frame to the next while nobody plays.
  static let waitingFrame = Duration.nanoseconds(16_666_667)

  nonisolated let loop: NetworkLoop
  let setup: Setup
  var node: SessionNode
  var face: any GameFace = SilentFace()
  /// What was last announced, for the face to keep showing while nobody plays.
  private var notice: String?
  /// The match where this end is the host; one of the two at most.
  var hosted: HostedMatch?
  /// The match where it is not.
  var joined: JoinedMatch?
  /// The other player, or the host of whoever watches.
  var link: ConnectionID?
  /// Whom a host tells, by number.
  var watchers: [Int: ConnectionID] = [:]
  /// The last word of a host.
  var lastWordHeard: (match: UInt16, score: Score)?
  /// The last match whose end was told here.
  var endedMatch: UInt16?
  var summary: Summary
  var network = NetworkMeter()
  var recording: RecordingFile?
  var computer: ComputerPlayer
  private var tickJitter = JitterMeter()
  private var rate = RateMeter()
  private var timer: LoopTimer?
  private var frameDue = Instant.zero
  private var isPlaying = false
  /// Who sat here last: a guest that comes back finds its match and score as they were.
  private var lastGuest: PeerID?
  private var lastWord: LoopTimer?
  private var firstState: LoopTimer?
  private var ending: CheckedContinuation<Void, Never>?
  private(set) var isOver = false
  /// Whether the network said no before play began.
  private(set) var wasAbandoned = false
  /// Called when the seat is free again.
  private let seatFreed: @Sendable () -> Void
  /// Called when somebody sat down.
  private let seatTaken: @Sendable (PeerInfo) -> Void

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
    computer = ComputerPlayer(.home, strength: setup.strength, seed: .random(in: 0 ... .max))
  }

  /// Takes the face and begins to show the waiting table.
  func begin(
    with makeFace: @Sendable () throws(CommandFailure) -> any GameFace
  ) throws(CommandFailure) {
    face = try makeFace()
    do throws(CommandFailure) {
      recording = try setup.recording.map { path throws(CommandFailure) in try .init(path) }
    } catch {
      face.close()
      throw error
    }
    timer = LoopTimer(on: loop, owner: self) { game in game.frame() }
    arm(at: loop.now)
  }

  /// Plays until the session ends; what it came to.
  func finish() async -> Summary {
    if !isOver { await withCheckedContinuation { ending = $0 } }
    return summary
  }

  /// Gives the face back: the network said no before play began.
  func abandon() {
    wasAbandoned = !isOver
    end("abandoned", nil)
  }

  /// Tells the people at this machine something. Called on the loop.
  nonisolated func announce(_ line: String) {
    assumeIsolated { game in
      game.notice = line
      game.face.tell(line)
    }
  }

  func handle(_ event: SessionEvent) {
    guard !isOver else { return }
    switch event {
    case .requested(let link, _, _): node.assumeIsolated { $0.admit(link) }
    case .opened(let link, let info): sitDown(link, info)
    case .message(let link, let channel, let bytes):
      if !receive(bytes, on: channel, from: link) { drop(link) }
    case .measured(let link, let roundTrip):
      guard link == self.link, let smoothed = roundTrip.smoothed else { return }
      joined?.note(roundTrip: smoothed)
    case .linkChanged(let link, let kind):
      guard link == self.link else { return }
      summary.transport = kind.description
      face.tell("the game goes over \(kind) now")
    case .closed(let link, let info, let reason, wasOpen: true):
      if link == self.link {
        peerLost(info, reason)
      } else if let number = number(of: link) {
        watchers[number] = nil
        hosted?.removeSpectator(number)
      }
    default: break
    }
  }

  // MARK: Time

  private func arm(at due: Instant) {
    frameDue = due
    timer?.arm(at: due)
  }

  /// One picture, and the ticks before it.
  private func frame() {
    let now = loop.now
    if Interrupts.isRequested { return end("interrupted", Goodbye(.left)) }
    for command in face.commands(at: now) {
      if command == .quit { return end("quit", Goodbye(.left)) }
      carryOut(command)
    }
    if isPlaying { play(at: now) }
    guard !isOver else { return }
    sendMatch()
    present(at: now)
    let next = isPlaying ? hosted?.nextTick ?? joined?.nextTick : nil
    arm(at: next ?? max(frameDue + Self.waitingFrame, now))
  }

  private func play(at now: Instant) {
    tickJitter.record(now - frameDue)
    let due = hosted?.takeDueTicks(at: now) ?? joined?.takeDueTicks(at: now) ?? 0
    rate.record(due, at: now)
    for _ in 0..<due {
      guard isPlaying, !isOver else { return }
      step(at: now)
      summary.ticks += 1
      if summary.ticks == setup.tickLimit { timeIsUp() }
    }
    guard !isOver else { return }
    record()
  }

  /// The match begins, or goes on with somebody else.
  func startPlaying() {
    guard !isPlaying, lastWord == nil else { return }
    isPlaying = true
    arm(at: hosted?.nextTick ?? joined?.nextTick ?? loop.now)
  }

  /// A host that grants a seat and never shows its table is left again.
  func awaitFirstState() {
    guard let link else { return }
    firstState = LoopTimer(on: loop, owner: self) { game in
      game.node.assumeIsolated { $0.close(link, Goodbye(.timedOut), as: .timedOut) }
    }
    firstState?.arm(after: setup.firstStateLimit)
  }

  /// The host has shown its table.
  func firstStateCame() { firstState?.cancel() }

  private func timeIsUp() {
    guard joined != nil, !setup.isWatching, let link else {
      return hosted == nil ? end("finished", Goodbye(.finished)) : finishHosting()
    }
    sendMatch()
    send(.finish, on: .words, to: link)
    awaitEnd()
  }

  /// Whoever said, or was asked for, the last word says goodbye soon.
  func awaitEnd() {
    isPlaying = false
    lastWord = LoopTimer(on: loop, owner: self) { game in
      guard let link = game.link, game.setup.tickLimit == nil else {
        return game.end("finished", Goodbye(.finished))
      }
      game.node.assumeIsolated { $0.close(link, Goodbye(.finished), as: .finished) }
    }
    lastWord?.arm(after: Self.lastWordLimit)
  }

  // MARK: Peers

  private func sitDown(_ link: ConnectionID, _ info: PeerInfo) {
    let isHost = node.assumeIsolated { $0.isIncoming(link) }
    if isHost, info.isSpectator { return beginTelling(link, info) }
    self.link = link
    summary.peer = TextWidth.plain(info.name)
    summary.transport = node.assumeIsolated { $0.kind(of: link) }?.description
    face.tell("\(info.name) sits down")
    seatTaken(info)
    if isHost {
      beginHosting(link, again: info.id == lastGuest)
      lastGuest = info.id
    } else {
      beginVisiting()
    }
  }

  private func peerLost(_ info: PeerInfo?, _ reason: DisconnectReason) {
    link = nil
    if reason == .replaced, hosted != nil { return }
    face.tell("game ended: \(reason)")
    summary.endReason = "\(reason)"
    isPlaying = false
    lastWord?.cancel()
    lastWord = nil
    if let guest = hosted?.guest { watchers[guest] = nil }
    hosted?.dismissGuest()
    guard setup.reopens, setup.tickLimit == nil || hasOnlyKnocked else {
      summary.status = ExitStatus(reason)
      return end("\(reason)", nil)
    }
    joined = nil
    seatFreed()
  }

  /// Whether this end sat down at another's table and never saw it: nothing was played.
  private var hasOnlyKnocked: Bool {
    joined.map { $0.state == nil && summary.ticks == 0 } ?? false
  }

  /// The peer breaks the game's protocol.
  private func drop(_ link: ConnectionID) {
    node.assumeIsolated {
      $0.close(link, Goodbye(.protocolViolation), as: .protocolViolation)
    }
  }

  // MARK: The end

  /// Ends the session here, once; a goodbye tells the peer.
  func end(_ reason: String, _ goodbye: Goodbye?) {
    guard !isOver else { return }
    isOver = true
    timer?.cancel()
    lastWord?.cancel()
    firstState?.cancel()
    record()
    recording?.finish()
    summary.recordingTrouble = recording?.takeTrouble() ?? summary.recordingTrouble
    summary.recordings = recording?.paths ?? []
    node.assumeIsolated { $0.retire(goodbye ?? Goodbye(.left)) }
    face.close()
    if let score = hosted?.state.score ?? lastWordHeard?.score ?? joined?.confirmed?.score {
      summary.score = score.description
    }
    summary.endReason = reason
    summary.take(tickJitter: tickJitter, stateAge: network.stateAge)
    summary.take(network, joined, lateInputs: hosted?.missedInputs)
    let (sent, received) = node.assumeIsolated { ($0.bytesSent, $0.bytesReceived) }
    summary.bytesSent = Int(sent)
    summary.bytesReceived = Int(received)
    ending?.resume()
    ending = nil
  }

  // MARK: Showing

  private func present(at now: Instant) {
    var view = currentView(at: now)
    view.status = status(at: now)
    face.present(view)
    if isPlaying { summary.frames += 1 }
  }

  private func status(at now: Instant) -> String {
    guard let link, let statistics = node.assumeIsolated({ $0.statistics(of: link) }) else {
      return setup.name
    }
    let bytes = node.assumeIsolated { ($0.bytesSent, $0.bytesReceived) }
    if isPlaying { network.noteFrame(statistics, gap: joined?.predictedTicks ?? 0, at: now) }
    if network.close(statistics, bytes, joined, at: now), setup.tellsNetwork {
      face.tell(network.line)
    }
    if setup.tellsNetwork { return network.line }
    let roundTrip = (statistics.roundTrip ?? .zero).inMilliseconds
    return "\(rate.perSecond) Hz · \(summary.transport ?? "") · round trip "
      + "\((roundTrip * 10).rounded() / 10) ms"
  }

  private func currentView(at now: Instant) -> TableView {
    let names = (own: setup.name, other: summary.peer ?? "")
    if let hosted, isPlaying { return TableView(hosted.state, seenFrom: .home, names: names) }
    guard let state = joined?.shown(at: now), isPlaying || !setup.isWatching else {
      return waitingView
    }
    if setup.isWatching {
      return TableView(state, seenFrom: .home, names: (summary.peer ?? "", "guest"))
    }
    return TableView(state, seenFrom: .away, names: names)
  }

  private var waitingView: TableView {
    var view = TableView(RinkState(), seenFrom: .home, names: (setup.name, ""))
    view.puck = nil
    let detail = notice.map { "\(setup.waiting) · \($0)" } ?? setup.waiting
    view.banner = TableView.Banner("Waiting", detail: detail)
    return view
  }
}
