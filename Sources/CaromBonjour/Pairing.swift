import CaromCore
import CaromDNS
import CaromDiscovery
import CaromGroup
import CaromNearby
import CaromProtocol
import CaromSession
import CaromTransport

/// One side of a pair on the network: it finds others, agrees with one of them, and keeps to it.
///
/// Of two sides, the one with the lower id invites the other; the other one does so as well if it
/// was not invited within about a second, since the first perhaps does not see it. A side that
/// waits for the answer to its own invitation lets those of others wait. As invitations go from
/// lower ids to higher ones, no ring of sides waits for each other, and a pair is always mutual,
/// because both sides join one connection.
actor Pairing: LoopActor {
  enum Event: Sendable {
    case searching, connecting
    case established(PairConnection)
    /// Data, and its part in the backlog until the delegate has it.
    case data([UInt8], Backlog.Share)
    case lost(DisconnectReason)
    /// An attempt has failed; nil if the other side has declined or was taken.
    case notEstablished(DisconnectReason?)
    /// The network cannot be used.
    case failed(String)
  }

  /// A side that is visible.
  private struct Candidate {
    /// The earliest time of the next invitation.
    var due: Instant
    /// The number of invitations that have failed in a row.
    var failures = 0
  }

  /// What this side is committed to. While it is, nobody else is accepted.
  private enum Commitment {
    case none
    /// This side has invited a peer.
    case inviting(PeerID, Task<Void, Never>)
    /// This side has accepted the invitation of a peer, until `Invitations` gives up waiting.
    case accepting(PeerID, until: Instant)
    case paired(PeerID)
  }

  /// The time that an invitation waits for its answer; then the next candidate is invited.
  static let invitationLimit = Duration.seconds(5)
  /// The time that a side with a higher id waits to be invited.
  static let dialBackDelay = Duration.seconds(1)
  /// The delay after the first failed invitation, which doubles with each further one.
  static let firstRetryDelay = Duration.milliseconds(200)
  static let longestRetryDelay = Duration.seconds(5)
  /// The maximum number of invitations that wait, and of candidates.
  static let limit = 256
  /// The key of the TXT record with the session's identifier.
  static let sessionKey = "session"

  nonisolated let loop: NetworkLoop
  private let sessionID: BonjourSessionID
  private let settings: Nearby
  private var emit: (@Sendable (Event) -> Void)?
  private var nearby: NearbySession?
  private var advertisement: DiscoveryCore.AdvertisingID?
  private var watch: DiscoveryCore.WatchingID?
  private var candidates: [PeerID: Candidate] = [:]
  private var commitment = Commitment.none
  private var waiting: [NearbyInvitation] = []
  private var timer: LoopTimer?
  private var endInput: AsyncStream<Never>.Continuation?
  private var isStopped = false
  private let backlog = Backlog()
  private nonisolated let listening = Locked<UInt16?>(nil)

  init(
    _ sessionID: BonjourSessionID, _ name: String, _ selection: InterfaceSelection
  ) throws(TransportError) {
    let loop = try NetworkLoop(name: "carom-pair")
    self.loop = loop
    self.sessionID = sessionID
    var settings = Nearby(name, type: sessionID.serviceType, on: loop)
    settings.interfaces = selection
    // An identifier that is too long for a record is told apart by the hash in its type alone.
    settings.info = Self.info(of: sessionID)
    self.settings = settings
  }

  private static func info(of sessionID: BonjourSessionID) -> TXTRecord {
    var info: TXTRecord = [:]
    try? info.set(sessionKey, to: .bytes(Array(sessionID.text.utf8)))
    return info
  }

  /// The port on which this side listens, from any thread.
  nonisolated var port: UInt16? { listening.withLock { $0 } }

  nonisolated func start(_ emit: @escaping @Sendable (Event) -> Void) { post { $0.begin(emit) } }

  nonisolated func stop() { post { $0.end() } }

  private nonisolated func post(_ body: @escaping @Sendable (isolated Pairing) -> Void) {
    loop.post { self.assumeIsolated { body($0) } }
  }

  // MARK: The scope

  private func begin(_ emit: @escaping @Sendable (Event) -> Void) {
    guard !isStopped else { return }
    self.emit = emit
    // The task keeps this object alive until it has ended.
    Task(executorPreference: loop) {
      do {
        try await self.settings.run([]) { nearby in
          guard let end = try await self.open(nearby) else { return }
          await withTaskGroup(of: Void.self) { tasks in
            tasks.addTask {
              for await invitation in nearby.invitations { await self.handle(invitation) }
            }
            for await _ in end {}
            tasks.cancelAll()
          }
        }
      } catch { await self.fail(error) }
      await self.loop.shutdown()
    }
  }

  private func open(_ nearby: NearbySession) async throws -> AsyncStream<Never>? {
    await nearby.session.addObserver { [weak self] event in
      self?.assumeIsolated { $0.handle(event) }
    }
    await nearby.session.setReceiver(of: PairConnection.channel.id) { [weak self] peer, bytes in
      let bytes = Array(copying: bytes)
      self?.assumeIsolated { $0.receive(bytes, from: peer) }
      return true
    }
    guard !isStopped else { return nil }
    self.nearby = nearby
    backlog.setHandlers(
      full: { [weak self] in self?.post { $0.pauseReading(true) } },
      low: { [weak self] in self?.post { $0.pauseReading(false) } })
    listening.withLock { $0 = nearby.port }
    timer = LoopTimer(on: loop, owner: self) { $0.proceed() }
    try search()
    let (end, input) = AsyncStream.makeStream(of: Never.self)
    endInput = input
    return end
  }

  private func fail(_ error: any Error) {
    guard !isStopped else { return }
    emit?(.failed("\(error)"))
    end()
  }

  private func end() {
    isStopped = true
    emit = nil
    if case .inviting(_, let task) = commitment { task.cancel() }
    timer?.cancel()
    timer = nil
    nearby = nil
    endInput?.finish()
    endInput = nil
  }
}

// MARK: - Finding the other side
extension Pairing {
  private func search() throws {
    guard let nearby, advertisement == nil else { return }
    advertisement = try nearby.advertise(
      sessionID.serviceType, info: settings.info
    ) { [weak self] error in
      self?.assumeIsolated { $0.fail(error) }
    }
    watch = try nearby.browse(sessionID.serviceType) { [weak self] change in
      self?.assumeIsolated { $0.handle(change) }
    }
    emit?(.searching)
  }

  /// Discovery is not needed while this side is paired.
  private func stopSearching() {
    if let advertisement { nearby?.withdraw(advertisement) }
    if let watch { nearby?.stopBrowsing(watch) }
    (advertisement, watch, candidates) = (nil, nil, [:])
  }

  private func handle(_ change: DiscoveryChange<NearbyPeer>) {
    let peer = change.item
    switch change {
    case .added:
      // Another identifier may have the same type.
      guard candidates.count < Self.limit, peer.info[Self.sessionKey] == sharedInfo else { return }
      let wait =
        localID < peer.id ? Duration.zero : Self.dialBackDelay * Double.random(in: 1...1.5)
      candidates[peer.id] = Candidate(due: loop.now + wait)
    case .removed: candidates[peer.id] = nil
    case .updated: return
    }
    proceed()
  }

  private var sharedInfo: String? { settings.info[Self.sessionKey] }
  private var localID: PeerID { nearby?.local.id ?? PeerID(high: 0, low: 0) }

  /// Invites the next candidate if this side is free, and plans the next step.
  private func proceed() {
    if case .accepting(_, let until) = commitment, until <= loop.now {
      commitment = .none
      emit?(.notEstablished(.timedOut))
      emit?(.searching)
    }
    if case .none = commitment {
      if let invitation = waiting.first {
        waiting.removeFirst()
        accept(invitation)
      } else if let next = nextCandidate, next.candidate.due <= loop.now {
        invite(next.peer)
      }
    }
    plan()
  }

  private var nextCandidate: (peer: PeerID, candidate: Candidate)? {
    candidates.min { ($0.value.due, $0.key) < ($1.value.due, $1.key) }
      .map { (peer: $0.key, candidate: $0.value) }
  }

  private func plan() {
    switch commitment {
    case .none:
      if let due = nextCandidate?.candidate.due { timer?.arm(at: due) } else { timer?.cancel() }
    case .accepting(_, let until): timer?.arm(at: until)
    case .inviting, .paired: timer?.cancel()
    }
  }

  private func invite(_ peer: PeerID) {
    guard let nearby else { return }
    let task = Task(executorPreference: loop) { [weak self] in
      let result = await nearby.invite(peer, within: Self.invitationLimit)
      await self?.invitationDidEnd(peer, result)
    }
    commitment = .inviting(peer, task)
    emit?(.connecting)
  }

  private func invitationDidEnd(_ peer: PeerID, _ result: InvitationResult) {
    guard case .inviting(peer, _) = commitment, result != .accepted else { return }
    commitment = .none
    delay(peer)
    switch result {
    case .refused(let reason): emit?(.notEstablished(reason))
    case .timedOut: emit?(.notEstablished(.timedOut))
    default: break  // the other side is taken, and another one may be free
    }
    emit?(.searching)
    proceed()
  }

  /// Lets a candidate wait after a failure, for a time that doubles and that chance varies.
  private func delay(_ peer: PeerID) {
    guard var candidate = candidates[peer] else { return }
    let whole = min(
      Self.longestRetryDelay, Self.firstRetryDelay * (1 << min(candidate.failures, 16)))
    candidate.failures += 1
    candidate.due = loop.now + whole * Double.random(in: 0.5...1)
    candidates[peer] = candidate
  }
}

// MARK: - The other side
extension Pairing {
  private func handle(_ invitation: NearbyInvitation) {
    switch commitment {
    case .none: accept(invitation)
    case .inviting, .accepting:
      // It waits until this side knows whether it is free.
      waiting.removeAll { $0.peer.id == invitation.peer.id }
      waiting.append(invitation)
      if waiting.count > Self.limit { decline(waiting.removeFirst()) }
    case .paired: decline(invitation)
    }
  }

  private func decline(_ invitation: NearbyInvitation) {
    Task(executorPreference: loop) { await invitation.decline() }
  }

  private func accept(_ invitation: NearbyInvitation) {
    let peer = invitation.peer.id
    commitment = .accepting(peer, until: loop.now + Invitations.confirmationLimit)
    emit?(.connecting)
    Task(executorPreference: loop) { [weak self] in
      if await !invitation.accept() { await self?.acceptanceDidFail(peer) }
    }
    plan()
  }

  private func acceptanceDidFail(_ peer: PeerID) {
    guard case .accepting(peer, _) = commitment else { return }
    commitment = .none
    emit?(.searching)
    proceed()
  }

  private func handle(_ event: PeerEvent) {
    switch event {
    case .joined(let peer): didJoin(peer)
    case .left(let peer, let reason): didLeave(peer, reason)
    default: break
    }
  }

  private func didJoin(_ peer: Peer) {
    switch commitment {
    case .inviting(peer.id, _), .accepting(peer.id, _): break
    default:
      nearby?.disconnectNow(peer.id)
      return
    }
    commitment = .paired(peer.id)
    stopSearching()
    for invitation in waiting { decline(invitation) }
    waiting = []
    plan()
    emit?(.established(PairConnection(peer: peer)))
  }

  private func didLeave(_ peer: Peer, _ reason: DisconnectReason) {
    guard case .paired(peer.id) = commitment else { return }
    commitment = .none
    emit?(.lost(reason))
    do { try search() } catch { fail(error) }
    proceed()
  }

  private func receive(_ bytes: [UInt8], from peer: Peer) {
    if case .paired(peer.id) = commitment { emit?(.data(bytes, backlog.add(bytes.count))) }
  }

  /// Lets the other side wait while the delegate is behind.
  private func pauseReading(_ isPaused: Bool) {
    nearby?.session.node.assumeIsolated { node in
      let channel = PairConnection.channel.id
      if isPaused { node.pause(channel: channel) } else { node.resume(channel: channel) }
    }
  }
}
