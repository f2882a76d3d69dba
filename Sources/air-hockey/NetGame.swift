import AirHockey
import AirHockeyTerminal
import Carom

/// A match over the network at this end: host or guest, whichever the connection makes it.
///
/// The host simulates and sends the table each tick; the guest sends its mallet. The session ends
/// when the time is up, when somebody quits, and, where a time was given, with the peer.
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
    var waiting = "waiting for a player"
    /// How long a host may take from the grant to its first state.
    var firstStateLimit = Duration.seconds(5)
  }

  enum Role {
    case none
    case host(HostedMatch)
    case guest(JoinedMatch)
  }

  /// After a stall at most this many ticks are made up for: a quarter of a second.
  static let catchUpTicks: Int64 = 15
  /// How long a guest whose time is up waits for the host's last word.
  static let lastWordLimit = Duration.seconds(1)

  nonisolated let loop: EventLoop
  let setup: Setup
  var node: SessionNode
  var face: any GameFace = SilentFace()
  /// What was last announced, for the face to keep showing while nobody plays.
  private var notice: String?
  var role = Role.none
  var link: LinkID?
  var summary = Summary(role: "host")
  var stateAge = JitterMeter()
  var computer: ComputerPlayer
  var requestLimit = RequestLimit()
  private var tickJitter = JitterMeter()
  private var rate = RateMeter()
  private var ticker: Ticker?
  private var isPlaying = false
  /// Who sat here last: a guest that comes back finds its match and score as they were.
  private var lastGuest: PeerID?
  private var lastWord: LoopTimer?
  private var firstState: LoopTimer?
  private var ending: CheckedContinuation<Void, Never>?
  private var isOver = false
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
    computer = ComputerPlayer(.home, strength: setup.strength, seed: .random(in: 0 ... .max))
  }

  /// Takes the face and begins to show the waiting table.
  func begin(
    with makeFace: @Sendable () throws(CommandFailure) -> any GameFace
  ) throws(CommandFailure) {
    face = try makeFace()
    tick(at: loop.now)
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
      guard link == self.link else { return }
      if !receive(bytes, on: channel) { drop(link) }
    case .linkChanged(let link, let kind):
      guard link == self.link else { return }
      summary.transport = kind.description
      face.tell("the game goes over \(kind) now")
    case .closed(let link, let info, let reason, wasOpen: true):
      if link == self.link { peerLost(info, reason) }
    default: break
    }
  }

  // MARK: Time

  /// Ticks from now on; a match's first tick is now.
  func tick(at start: Instant) {
    ticker?.stop()
    ticker = Ticker(on: loop, owner: self, hertz: Preset.ticksPerSecond, start: start) {
      game, tick in game.handle(tick)
    }
  }

  private func handle(_ tick: Ticker.Tick) {
    if Interrupts.isRequested { return end("interrupted", Goodbye(.left)) }
    for command in face.commands(at: tick.now) {
      if command == .quit { return end("quit", Goodbye(.left)) }
      carryOut(command)
    }
    if isPlaying { play(tick) }
    if !isOver { present(at: tick.now) }
  }

  private func play(_ tick: Ticker.Tick) {
    tickJitter.record(tick.lateness)
    rate.record(Int(tick.missed) + 1, at: tick.now)
    for _ in 0...min(tick.missed, Self.catchUpTicks) {
      guard isPlaying, !isOver else { return }
      step(at: tick.now)
      summary.ticks += 1
      if summary.ticks == setup.tickLimit { return timeIsUp() }
    }
  }

  /// The match begins, or goes on with somebody else.
  func startPlaying() {
    guard !isPlaying, lastWord == nil else { return }  // states come behind the last word too
    firstState?.cancel()
    isPlaying = true
    tick(at: loop.now)
  }

  /// A host that grants a seat and never shows its table is left again.
  func awaitFirstState() {
    guard let link else { return }
    firstState = LoopTimer(on: loop, owner: self) { game in
      game.node.assumeIsolated { $0.close(link, Goodbye(.timedOut), as: .timedOut) }
    }
    firstState?.arm(after: setup.firstStateLimit)
  }

  private func timeIsUp() {
    switch role {
    case .host(let match): finishHosting(match)
    case .guest:
      isPlaying = false
      ask(.finish)
      lastWord = LoopTimer(on: loop, owner: self) { game in
        game.end("finished", Goodbye(.finished))
      }
      lastWord?.arm(after: Self.lastWordLimit)
    case .none: end("finished", Goodbye(.finished))
    }
  }

  // MARK: Peers

  private func sitDown(_ link: LinkID, _ info: PeerInfo) {
    self.link = link
    summary.peer = TextWidth.plain(info.name)
    summary.transport = node.assumeIsolated { $0.kind(of: link) }?.description
    face.tell("\(info.name) sits down")
    seatTaken(info)
    if node.assumeIsolated({ $0.isIncoming(link) }) {
      beginHosting(again: info.id == lastGuest)
      lastGuest = info.id
    } else {
      beginVisiting()
    }
  }

  private func peerLost(_ info: PeerInfo?, _ reason: DisconnectReason) {
    link = nil
    if reason == .replaced, case .host = role { return }
    face.tell("game ended: \(reason)")
    summary.endReason = "\(reason)"
    isPlaying = false
    guard setup.reopens, setup.tickLimit == nil || hasOnlyKnocked else {
      return end("\(reason)", nil)
    }
    if case .guest = role { role = .none }
    seatFreed()
  }

  /// Whether this end sat down at another's table and never saw it: nothing was played.
  private var hasOnlyKnocked: Bool {
    if case .guest(let match) = role { match.latest == nil && summary.ticks == 0 } else { false }
  }

  /// The peer breaks the game's protocol.
  private func drop(_ link: LinkID) {
    node.assumeIsolated {
      $0.close(link, Goodbye(.protocolViolation), as: .protocolViolation)
    }
  }

  // MARK: The end

  /// Ends the session here, once; a goodbye tells the peer.
  func end(_ reason: String, _ goodbye: Goodbye?) {
    guard !isOver else { return }
    isOver = true
    ticker?.stop()
    lastWord?.cancel()
    firstState?.cancel()
    node.assumeIsolated { $0.retire(goodbye ?? Goodbye(.left)) }
    face.close()
    takeScore()
    summary.endReason = reason
    summary.take(tickJitter: tickJitter, stateAge: stateAge)
    let (sent, received) = node.assumeIsolated { ($0.bytesSent, $0.bytesReceived) }
    summary.bytesSent = Int(sent)
    summary.bytesReceived = Int(received)
    ending?.resume()
    ending = nil
  }

  private func takeScore() {
    switch role {
    case .host(let match): summary.score = match.state.score.description
    case .guest(let match): summary.score = match.score.description
    case .none: break
    }
  }

  // MARK: Showing

  private func present(at now: Instant) {
    var view = currentView
    view.status = status
    face.present(view)
    if isPlaying { summary.frames += 1 }
  }

  private var status: String {
    guard let link, let roundTrip = node.assumeIsolated({ $0.roundTrip(to: link)?.smoothed })
    else { return setup.name }
    let tenths = (roundTrip.inMilliseconds * 10).rounded() / 10
    return "\(rate.perSecond) Hz · \(summary.transport ?? "") · round trip \(tenths) ms"
  }

  private var currentView: TableView {
    let names = (own: setup.name, other: summary.peer ?? "")
    switch role {
    case .host where !isPlaying: return waitingView
    case .host(let match): return TableView(match.state, seenFrom: .home, names: names)
    case .guest(let match):
      if let state = match.view { return TableView(state, seenFrom: .away, names: names) }
      return waitingView
    case .none: return waitingView
    }
  }

  private var waitingView: TableView {
    var view = TableView(RinkState(), seenFrom: .home, names: (setup.name, ""))
    view.puck = nil
    let detail = notice.map { "\(setup.waiting) · \($0)" } ?? setup.waiting
    view.banner = TableView.Banner("Waiting", detail: detail)
    return view
  }
}
