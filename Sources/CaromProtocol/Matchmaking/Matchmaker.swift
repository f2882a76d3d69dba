import CaromCore

/// Finds a two-seat table for a peer that would as soon join as host: the role choice of `auto`.
///
/// Peers that look at the same time all host and all search. The lower id yields: a peer dials
/// the free peer whose id is the next above its own. A peer that dials keeps requests from below
/// unanswered until its own is answered, so a chain of dials settles from its top into pairs:
/// 1→2→3→4 becomes 3-4 and 1-2, with nobody left over. Dials go upwards only, hence no ring.
/// A peer that was seen for a while by one side only is dialled from above as well; a ring that
/// could come of that ends with `holdLimit`.
package struct Matchmaker: Sendable {
  private enum State: Hashable {
    case looking
    case dialing(PeerID)
    case seated(with: PeerID)
  }
  private struct Candidate {
    var sighting: Sighting
    var firstSeen: Instant
    var retryAt: Instant
    var failures = 0
    /// Whether its last dial was never answered.
    var isMute = false
  }
  private struct Held {
    var id: PeerID
    var deadline: Instant
  }

  /// How long a request waits for this peer's own to be answered before it is told `busy`.
  package static let holdLimit = Duration.seconds(2)
  /// How long a dial may take: where the peer listens is found out, and it may hold the request.
  /// Whoever takes longer is given up, and dialled again only where nobody else is.
  package static let dialLimit = holdLimit + .seconds(3)
  /// How long a free peer below is left to dial before it is dialled from above.
  package static let patience = Duration.seconds(3)
  /// After a refusal: the first pause before that peer is tried again, doubled each time.
  package static let firstRetry = Duration.milliseconds(250)
  package static let lastRetry = Duration.seconds(4)
  /// The most peers that are remembered; whose dials failed most makes room for a new one.
  package static let candidateLimit = 256

  private let id: PeerID
  private let lookUntil: Instant
  private var state = State.looking
  private var status: Sighting.Status
  private var candidates: [Candidate] = []  // by id
  private var held: [Held] = []
  private var dialDeadline = Instant.distantFuture
  private var actions: Deque<MatchmakerAction>
  private var generator: SeededGenerator

  /// Begins to look at `now`; after `window` without a table the peer says that it waits.
  package init(
    as id: PeerID, window: Duration = .seconds(6), generator: SeededGenerator, at now: Instant
  ) {
    self.id = id
    self.generator = generator
    lookUntil = now.advanced(by: window)
    status = .searching
    actions = Deque()
    actions.append(.advertise(.searching, freeSeats: 1))
  }

  /// Whom this peer plays with.
  package var partner: PeerID? { if case .seated(let partner) = state { partner } else { nil } }
}

// MARK: - What comes in
extension Matchmaker {
  /// A peer was found, or says something new of itself.
  package mutating func handle(_ sighting: Sighting, at now: Instant) {
    guard sighting.id != id else { return }
    if let index = candidates.firstIndex(where: { $0.sighting.id == sighting.id }) {
      if candidates[index].sighting != sighting {
        candidates[index].sighting = sighting
        candidates[index].firstSeen = now
        candidates[index].retryAt = now
        candidates[index].failures = 0
        candidates[index].isMute = false
      }
    } else if hasRoom() {
      let index = candidates.firstIndex { $0.sighting.id > sighting.id } ?? candidates.count
      candidates.insert(
        Candidate(sighting: sighting, firstSeen: now, retryAt: now), at: index)
    }
    look(at: now)
  }

  /// A peer is gone.
  package mutating func handleGone(_ gone: PeerID, at now: Instant) {
    candidates.removeAll { $0.sighting.id == gone }
  }

  /// A peer asks for the seat here.
  package mutating func handleRequest(from peer: PeerID, at now: Instant) {
    switch state {
    case .seated: actions.append(.refuse(peer, .full))
    case .looking: seat(peer, at: now)
    case .dialing(let dialed) where dialed == peer:
      guard id > peer else { return hold(peer, at: now) }
      actions.append(.cancelDial(dialed))
      seat(peer, at: now)
    case .dialing: hold(peer, at: now)
    }
  }

  /// Whoever asked for the seat went away before an answer.
  package mutating func handleRequestGone(from peer: PeerID) { held.removeAll { $0.id == peer } }

  /// The peer that was dialled granted its seat.
  package mutating func handleDialed(_ peer: PeerID, at now: Instant) {
    guard state == .dialing(peer) else { return }
    sit(with: peer, at: now)
  }

  /// The dial came to nothing.
  package mutating func handleDialFailed(_ peer: PeerID, at now: Instant) {
    putOff(peer, at: now)
    guard state == .dialing(peer) else { return }
    state = .looking
    guard held.isEmpty else { return seat(held.removeFirst().id, at: now) }
    look(at: now)
  }

  /// The match is over, or its peer was lost: the search begins again.
  package mutating func handleMatchEnded(at now: Instant) {
    guard case .seated(let partner) = state else { return }
    state = .looking
    // A peer that sits down and breaks off again and again is not dialled without a pause.
    putOff(partner, at: now)
    advertise(at: now, again: true)
    look(at: now)
  }

  /// Time has come to `nextTimeout`.
  package mutating func handleTimeout(at now: Instant) {
    if case .dialing(let peer) = state, dialDeadline <= now { giveUp(peer, at: now) }
    for late in held where late.deadline <= now { actions.append(.refuse(late.id, .busy)) }
    held.removeAll { $0.deadline <= now }
    if case .looking = state { advertise(at: now, again: false) }
    look(at: now)
  }
}

// MARK: - What goes out
extension Matchmaker {
  package mutating func pollAction() -> MatchmakerAction? { actions.popFirst() }

  /// When `handleTimeout` wants to be called.
  package var nextTimeout: Instant? {
    var next = held.reduce(nil) { earliest($0, $1.deadline) }
    if case .seated = state { return next }
    if status == .searching { next = earliest(next, lookUntil) }
    if case .dialing = state { return earliest(next, dialDeadline) }
    return candidates.reduce(next) { earliest($0, dialTime(of: $1)) }
  }

  /// When a candidate may be dialled; `nil` where it has no free seat.
  private func dialTime(of candidate: Candidate) -> Instant? {
    let sighting = candidate.sighting
    guard sighting.freeSeats > 0, sighting.status != .playing else { return nil }
    let yields = sighting.status == .hosting || sighting.id > id
    let ready = yields ? candidate.firstSeen : candidate.firstSeen + Self.patience
    return max(ready, candidate.retryAt)
  }

  /// Dials the best peer that may be dialled now: a table that stays first, then the next id
  /// above, then the ones below.
  private mutating func look(at now: Instant) {
    guard case .looking = state else { return }
    let ready = candidates.filter { dialTime(of: $0).map { $0 <= now } ?? false }
    let best = best(of: ready.filter { !$0.isMute }) ?? best(of: ready)
    guard let best else { return }
    state = .dialing(best.id)
    dialDeadline = now + Self.dialLimit
    actions.append(.dial(best.id))
  }

  /// Where too many are remembered, the one whose dials failed most is forgotten: junk must not
  /// keep those out who come later. Whoever has not failed yet stays.
  private mutating func hasRoom() -> Bool {
    guard candidates.count >= Self.candidateLimit else { return true }
    let worst = candidates.indices.max { candidates[$0].failures < candidates[$1].failures }
    guard let worst, candidates[worst].failures > 0 else { return false }
    candidates.remove(at: worst)
    return true
  }

  private func best(of ready: [Candidate]) -> Sighting? {
    let sightings = ready.map(\.sighting)
    return sightings.first { $0.status == .hosting } ?? sightings.first { $0.id > id }
      ?? sightings.last
  }

  /// The peer does not answer: whoever else is there comes first from now on.
  private mutating func giveUp(_ peer: PeerID, at now: Instant) {
    actions.append(.cancelDial(peer))
    if let index = candidates.firstIndex(where: { $0.sighting.id == peer }) {
      candidates[index].isMute = true
    }
    handleDialFailed(peer, at: now)
  }

  /// The peer is not dialled again before a pause, longer each time.
  private mutating func putOff(_ peer: PeerID, at now: Instant) {
    guard let index = candidates.firstIndex(where: { $0.sighting.id == peer }) else { return }
    let pause = min(Self.firstRetry * (1 << min(candidates[index].failures, 4)), Self.lastRetry)
    candidates[index].failures += 1
    candidates[index].retryAt = now + pause + generator.duration(in: .zero...pause)
  }

  private mutating func hold(_ peer: PeerID, at now: Instant) {
    guard !held.contains(where: { $0.id == peer }) else { return }
    held.append(Held(id: peer, deadline: now + Self.holdLimit))
  }

  private mutating func seat(_ peer: PeerID, at now: Instant) {
    actions.append(.admit(peer))
    sit(with: peer, at: now)
  }

  private mutating func sit(with peer: PeerID, at now: Instant) {
    state = .seated(with: peer)
    for late in held where late.id != peer { actions.append(.refuse(late.id, .full)) }
    held.removeAll()
    status = .playing
    actions.append(.advertise(.playing, freeSeats: 0))
  }

  /// Says whether it searches or waits, when that changed or `again` asks for it.
  private mutating func advertise(at now: Instant, again: Bool) {
    let next = now < lookUntil ? Sighting.Status.searching : .waiting
    guard again || next != status else { return }
    status = next
    actions.append(.advertise(next, freeSeats: 1))
  }
}
