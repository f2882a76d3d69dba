import CaromCore

/// Decides whether a peer hosts or joins, for matches of two peers (the role `auto`).
///
/// All peers that look for a match at the same time both host and search. Each dials the free peer
/// with the next higher id. While its own request for a seat is unanswered, a peer holds requests
/// from lower ids, so a chain of dials resolves from its highest id into pairs: 1→2→3→4 becomes 3-4
/// and 1-2, and no peer is left over. Dials go to higher ids only, so they cannot form a ring. The
/// exception is a peer that has been visible for `dialBackDelay` without dialing, perhaps because
/// it cannot see this peer: a peer with a higher id dials it as well. If such dials form a ring,
/// `holdLimit` ends it.
package struct Matchmaker: Sendable {
  private enum State: Hashable {
    case looking
    case dialing(PeerID)
    case matched(with: PeerID)
  }
  private struct Candidate {
    var sighting: Sighting
    var firstSeen: Instant
    var retryAt: Instant
    var failures = 0
    /// Whether the last dial to the peer timed out.
    var isUnresponsive = false
  }
  private struct HeldRequest {
    var peer: PeerID
    var deadline: Instant
  }

  /// The time for which a peer holds a request while its own is unanswered. After this time, it
  /// refuses the request as `busy`.
  package static let holdLimit = Duration.seconds(2)
  /// The time limit of a dial. It includes the time to resolve the peer's address and the time for
  /// which the peer may hold the request. A peer that exceeds the limit is dialed again only if
  /// there is no other candidate.
  package static let dialLimit = holdLimit + .seconds(3)
  /// The time within which a free peer with a lower id should dial this peer. After this time, this
  /// peer dials it.
  package static let dialBackDelay = Duration.seconds(3)
  /// The pause after the first failed dial to a peer, without jitter. The pause doubles with each
  /// further failure.
  package static let firstRetry = Duration.milliseconds(250)
  /// The maximum pause before another dial to a peer, without jitter.
  package static let lastRetry = Duration.seconds(4)
  /// The maximum number of candidates. At the limit, the candidate with the most failed dials is
  /// removed to make room for a new candidate.
  package static let candidateLimit = 256

  private let id: PeerID
  private let searchUntil: Instant
  private var state = State.looking
  private var status = Sighting.Status.searching
  private var candidates: [Candidate] = []  // sorted by id
  private var held: [HeldRequest] = []
  private var dialDeadline = Instant.distantFuture
  private var actions = Deque<MatchmakerAction>()
  private var generator: SeededGenerator

  /// Creates a matchmaker that starts looking for an opponent at `now`. A peer that has found no
  /// match after `window` advertises that it is waiting instead of searching.
  package init(
    as id: PeerID, window: Duration = .seconds(6), generator: SeededGenerator, at now: Instant
  ) {
    self.id = id
    self.generator = generator
    searchUntil = now.advanced(by: window)
    actions.append(.advertise(.searching, freeSeats: 1))
  }

  /// The peer with which this peer is matched; nil without a match.
  package var partner: PeerID? { if case .matched(let partner) = state { partner } else { nil } }
}

// MARK: - Input
extension Matchmaker {
  /// Handles a peer that was discovered or has changed its advertisement.
  package mutating func handle(_ sighting: Sighting, at now: Instant) {
    guard sighting.id != id else { return }
    let candidate = Candidate(sighting: sighting, firstSeen: now, retryAt: now)
    if let index = candidates.firstIndex(where: { $0.sighting.id == sighting.id }) {
      if candidates[index].sighting != sighting { candidates[index] = candidate }
    } else if makeRoomForCandidate() {
      let index = candidates.firstIndex { $0.sighting.id > sighting.id } ?? candidates.count
      candidates.insert(candidate, at: index)
    }
    dialBestCandidate(at: now)
  }

  /// Handles a peer that no longer advertises itself.
  package mutating func handleRemoved(_ peer: PeerID, at now: Instant) {
    candidates.removeAll { $0.sighting.id == peer }
  }

  /// Handles another peer's request for the seat that this peer offers.
  package mutating func handleRequest(from peer: PeerID, at now: Instant) {
    switch state {
    case .matched: actions.append(.refuse(peer, .full))
    case .looking: admit(peer, at: now)
    case .dialing(let dialed) where dialed == peer:
      guard id > peer else { return hold(peer, at: now) }
      actions.append(.cancelDial(dialed))
      admit(peer, at: now)
    case .dialing: hold(peer, at: now)
    }
  }

  /// Handles a peer that disconnected before its request was answered.
  package mutating func handleRequestWithdrawn(by peer: PeerID) {
    held.removeAll { $0.peer == peer }
  }

  /// Handles a dial that succeeded: the peer has granted its seat.
  package mutating func handleDialed(_ peer: PeerID, at now: Instant) {
    guard state == .dialing(peer) else { return }
    beginMatch(with: peer, at: now)
  }

  /// Handles a dial that failed or was refused.
  package mutating func handleDialFailed(_ peer: PeerID, at now: Instant) {
    scheduleRetry(of: peer, at: now)
    guard state == .dialing(peer) else { return }
    state = .looking
    guard held.isEmpty else { return admit(held.removeFirst().peer, at: now) }
    dialBestCandidate(at: now)
  }

  /// Handles the end of the match or the loss of the opponent, and starts looking for an opponent
  /// again.
  package mutating func handleMatchEnded(at now: Instant) {
    guard case .matched(let partner) = state else { return }
    state = .looking
    // A peer that keeps leaving its matches early must not be dialed again without a pause.
    scheduleRetry(of: partner, at: now)
    advertise(at: now)
    dialBestCandidate(at: now)
  }

  /// Handles expired timers. Call at `nextTimeout`.
  package mutating func handleTimeout(at now: Instant) {
    if case .dialing(let peer) = state, dialDeadline <= now { abandonDial(to: peer, at: now) }
    for request in held where request.deadline <= now {
      actions.append(.refuse(request.peer, .busy))
    }
    held.removeAll { $0.deadline <= now }
    if case .looking = state { advertise(at: now) }
    dialBestCandidate(at: now)
  }
}

// MARK: - Output
extension Matchmaker {
  package mutating func pollAction() -> MatchmakerAction? { actions.popFirst() }

  /// The next time at which `handleTimeout` must be called, or nil if no timer is armed.
  package var nextTimeout: Instant? {
    var next = held.reduce(nil) { earliest($0, $1.deadline) }
    if case .matched = state { return next }
    if status == .searching { next = earliest(next, searchUntil) }
    if case .dialing = state { return earliest(next, dialDeadline) }
    return candidates.reduce(next) { earliest($0, dialTime(of: $1)) }
  }

  /// Returns the earliest time at which a candidate may be dialed, or nil if the candidate has no
  /// free seat or is in a match.
  private func dialTime(of candidate: Candidate) -> Instant? {
    let sighting = candidate.sighting
    guard sighting.freeSeats > 0, sighting.status != .playing else { return nil }
    let isDialedAtOnce = sighting.status == .hosting || sighting.id > id
    let ready =
      isDialedAtOnce ? candidate.firstSeen : candidate.firstSeen + Self.dialBackDelay
    return max(ready, candidate.retryAt)
  }

  /// Dials the best candidate that may be dialed now, unless a dial is in progress.
  private mutating func dialBestCandidate(at now: Instant) {
    guard case .looking = state else { return }
    let ready = candidates.filter { dialTime(of: $0).map { $0 <= now } ?? false }
    let best = best(of: ready.filter { !$0.isUnresponsive }) ?? best(of: ready)
    guard let best else { return }
    state = .dialing(best.id)
    dialDeadline = now + Self.dialLimit
    actions.append(.dial(best.id))
  }

  /// Returns whether a candidate can be added, after dropping the candidate with the most failed
  /// dials if `candidateLimit` is reached. A candidate without failures is never dropped, so that
  /// invalid advertisements cannot displace real peers.
  private mutating func makeRoomForCandidate() -> Bool {
    guard candidates.count >= Self.candidateLimit else { return true }
    let worst = candidates.indices.max { candidates[$0].failures < candidates[$1].failures }
    guard let worst, candidates[worst].failures > 0 else { return false }
    candidates.remove(at: worst)
    return true
  }

  /// Returns the candidate to dial: the first peer that hosts permanently; otherwise, the peer with
  /// the next id above this peer's; otherwise, the peer with the next id below it. Returns nil if
  /// `ready` is empty.
  private func best(of ready: [Candidate]) -> Sighting? {
    let sightings = ready.map { $0.sighting }
    return sightings.first { $0.status == .hosting } ?? sightings.first { $0.id > id }
      ?? sightings.last
  }

  /// Cancels a dial that timed out. After this, other candidates are preferred to this peer.
  private mutating func abandonDial(to peer: PeerID, at now: Instant) {
    actions.append(.cancelDial(peer))
    if let index = candidates.firstIndex(where: { $0.sighting.id == peer }) {
      candidates[index].isUnresponsive = true
    }
    handleDialFailed(peer, at: now)
  }

  /// Delays the next dial to a peer by a pause that grows exponentially with the failed dials, plus
  /// random jitter.
  private mutating func scheduleRetry(of peer: PeerID, at now: Instant) {
    guard let index = candidates.firstIndex(where: { $0.sighting.id == peer }) else { return }
    let pause = min(Self.firstRetry * (1 << min(candidates[index].failures, 4)), Self.lastRetry)
    candidates[index].failures += 1
    candidates[index].retryAt = now + pause + generator.duration(in: .zero...pause)
  }

  private mutating func hold(_ peer: PeerID, at now: Instant) {
    guard !held.contains(where: { $0.peer == peer }) else { return }
    held.append(HeldRequest(peer: peer, deadline: now + Self.holdLimit))
  }

  private mutating func admit(_ peer: PeerID, at now: Instant) {
    actions.append(.admit(peer))
    beginMatch(with: peer, at: now)
  }

  private mutating func beginMatch(with peer: PeerID, at now: Instant) {
    state = .matched(with: peer)
    for request in held where request.peer != peer {
      actions.append(.refuse(request.peer, .full))
    }
    held.removeAll()
    status = .playing
    actions.append(.advertise(.playing, freeSeats: 0))
  }

  /// Advertises `searching` until `searchUntil`, and `waiting` from then on. Does nothing if that
  /// status is already advertised.
  private mutating func advertise(at now: Instant) {
    let next = now < searchUntil ? Sighting.Status.searching : .waiting
    guard next != status else { return }
    status = next
    actions.append(.advertise(next, freeSeats: 1))
  }
}
