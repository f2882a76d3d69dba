import CaromCore
import CaromCrypto
import CaromProtocol
import CaromSession
import CaromTransport

/// The way of a player from host to host: watches whether the player's present host lives, and says
/// where the match goes on when it does not.
actor MatchJourney: LoopActor {
  /// What comes after a host.
  enum Next: Sendable {
    case join(ConnectToken)
    case over
  }

  /// The time between two looks at whether something has come from the host.
  private static let watchInterval = Duration.milliseconds(250)

  nonisolated let loop: NetworkLoop
  private let follower: FleetFollower
  private let steps: AsyncStream<FleetFollower.Step>
  private let taken: AsyncStream<FleetFollower.Step>.Continuation
  private var reader: Task<Void, Never>?
  /// The follower's newest step that nobody has followed.
  private var step: FleetFollower.Step?
  private var waiter: CheckedContinuation<Void, Never>?
  /// The host at which the player is.
  private var host: Peer?
  /// Whether the player has been at a host.
  private(set) var hasArrived = false
  /// Why the connection to the last host has ended; nil if it has not, or never existed.
  private var ending: DisconnectReason?
  /// Whether the last host at which the player was has ended without another one for the match.
  private var hasHostEnded = false
  /// When something came from the host last.
  private var lastHeard: Instant?
  private var timer: LoopTimer?
  private let tell: @Sendable (MatchProgress) -> Void
  /// What the player was told last.
  private var progress: MatchProgress?

  init(
    _ player: PeerInfo, over kinds: LinkKinds, on loop: NetworkLoop,
    _ tell: @escaping @Sendable (MatchProgress) -> Void
  ) {
    self.loop = loop
    self.tell = tell
    let (steps, taken) = AsyncStream.makeStream(of: FleetFollower.Step.self)
    (self.steps, self.taken) = (steps, taken)
    follower = FleetFollower(player, over: kinds, on: loop) { taken.yield($0) }
  }

  private func report(_ progress: MatchProgress) {
    guard progress != self.progress else { return }
    self.progress = progress
    tell(progress)
  }

  /// Notes that the player joins the host of a token.
  func depart(with token: ConnectToken) async {
    if reader == nil {
      reader = Task { [weak self, steps] in
        for await step in steps { await self?.take(step) }
      }
    }
    ending = nil
    report(.joining(token.hosts))
    await follower.joins(with: token)
  }

  /// Notes that the player is at a host.
  func arrive(at host: Peer, of session: Session) async {
    (self.host, hasArrived, hasHostEnded, lastHeard) = (host, true, false, nil)
    report(.joined)
    // The host may have sent the player away already.
    await session.addObserver(expecting: [host]) { [weak self] event in
      self?.assumeIsolated { $0.observe(event) }
    }
    // It ends with the session.
    Task { [follower] in await follower.readDoors(of: session) }
    if timer == nil { timer = LoopTimer(on: loop, owner: self) { $0.watch() } }
    watch()
  }

  /// Ends the visit of a host. Returns whether the host is gone.
  func leave() -> Bool {
    timer?.cancel()
    host = nil
    return ending != nil
  }

  /// Returns where the match goes on, now that the host is gone. Throws if it goes on nowhere, or
  /// the host has sent the player away for good.
  func next() async throws -> Next {
    if step == nil {
      switch ending {
      case .moved(let next)?:
        if let token = next.token { return .join(token) }
      case .finished?: return .over
      case .left?: hasHostEnded = true
      case nil, .timedOut?, .connectionReset?, .connectionLost?: break
      case let reason?: throw SessionError.refused(reason)
      }
      report(hasHostEnded ? .hostEnded : .looking)
      await follower.lostHost()
      try await waitForStep()
    }
    switch step.take() {
    case .join(let token)?: return .join(token)
    case .over?: return .over
    case .giveUp(let refusal?)?: throw FleetMatchError.refused(refusal)
    case .giveUp?: throw hasHostEnded ? FleetMatchError.hostEnded : .noAnswer
    case nil: throw CancellationError()
    }
  }

  /// Ends the journey.
  func end() async {
    timer?.cancel()
    taken.finish()
    await follower.end()
  }

  /// Takes a step of the follower. A player who is at a host, of which nothing is heard, leaves it.
  private func take(_ step: FleetFollower.Step) {
    self.step = step
    host?.disconnect(as: .timedOut)
    waiter.take()?.resume()
  }

  private func waitForStep() async throws {
    await withTaskCancellationHandler {
      guard step == nil, !Task.isCancelled else { return }
      await withCheckedContinuation { waiter = $0 }
    } onCancel: {
      loop.post { [weak self] in self?.assumeIsolated { $0.waiter.take()?.resume() } }
    }
  }

  private func observe(_ event: PeerEvent) {
    guard case .left(let peer, let reason) = event, peer == host else { return }
    ending = ending ?? reason
  }

  private func watch() {
    guard let host, ending == nil else { return }
    timer?.arm(after: Self.watchInterval)
    let heard = host.lastReceived
    guard heard != lastHeard else {
      if follower.assumeIsolated({ $0.isAsking }) { report(.looking) }
      return
    }
    lastHeard = heard
    report(.joined)
    follower.assumeIsolated { $0.heard() }
  }
}
