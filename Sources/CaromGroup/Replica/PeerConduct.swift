import CaromCore

/// A pause that becomes twice as long each time, up to 64 times the first one.
struct Backoff: Hashable, Sendable {
  private static let doublingLimit = 6

  private var count = 0
  private var until: Instant?

  /// Begins a pause of `first`, doubled once for each earlier one. Earlier ones count no more when
  /// as much time as the longest pause has passed since the last one.
  mutating func begin(_ first: Duration, at now: Instant) {
    if let until, until + first * (1 << Self.doublingLimit) <= now { count = 0 }
    until = now + first * (1 << min(count, Self.doublingLimit))
    count += 1
  }

  func isOver(at now: Instant) -> Bool { until.map { $0 <= now } ?? true }
}

/// What this side remembers of the trouble that a peer has made, also after the peer has left, so
/// that coming back does not help it.
struct PeerConduct: Hashable, Sendable {
  /// The number of refusals that are forgiven within `refusalMemory`.
  private static let refusalLimit = 3
  private static let refusalMemory = Duration.seconds(60)

  /// The time for which the peer has held up the entries of others, less a tenth of the time since.
  private var heldUp = Duration.zero
  private var chargedAt: Instant
  fileprivate var updatedAt: Instant
  /// While it lasts, entries are committed without waiting for the peer.
  var suspension = Backoff()
  /// While it lasts, the peer's claim to be connected with more peers does not count.
  var claims = Backoff()
  /// While it lasts, the peer is not asked to lead.
  var distrust = Backoff()
  private var refusals = 0
  private var refusedAt: Instant?

  init(at now: Instant) { (chargedAt, updatedAt) = (now, now) }

  /// Charges the peer with a time for which it has held up the others. Returns whether it is more
  /// than `limit` in all; counting then begins again.
  mutating func charge(_ time: Duration, limit: Duration, at now: Instant) -> Bool {
    let earlier = max(.zero, heldUp - (now - chargedAt) / 10)
    (heldUp, chargedAt) = (earlier + time, now)
    guard heldUp >= limit else { return false }
    heldUp = .zero
    return true
  }

  /// Notes that the peer has refused to lead this side, or has stopped leading it. Returns whether
  /// it has done so too often.
  mutating func noteRefusal(at now: Instant) -> Bool {
    if let refusedAt, refusedAt + Self.refusalMemory <= now { refusals = 0 }
    refusedAt = now
    refusals += 1
    return refusals > Self.refusalLimit
  }
}

/// The conduct of the peers that have made trouble.
struct ConductTable: Sendable {
  /// The maximum number of peers. Beyond it, the peer whose trouble is the oldest is forgotten.
  static let limit = 1024

  private var records = PeerMap<PeerConduct>()

  subscript(peer: PeerID) -> PeerConduct? { records[peer] }

  /// Changes the record of a peer, which is made if there is none.
  mutating func update<Result>(
    _ peer: PeerID, at now: Instant, _ change: (inout PeerConduct) -> Result
  ) -> Result {
    var record = records[peer] ?? PeerConduct(at: now)
    let result = change(&record)
    record.updatedAt = now
    records[peer] = record
    if records.count > Self.limit { forgetOldest(but: peer) }
    return result
  }

  private mutating func forgetOldest(but peer: PeerID) {
    var oldest: (peer: PeerID, at: Instant)?
    for other in records.ids where other != peer {
      guard let at = records[other]?.updatedAt, at < oldest?.at ?? .distantFuture else { continue }
      oldest = (other, at)
    }
    if let oldest { records[oldest.peer] = nil }
  }
}

// MARK: - What follows from it
extension Replica {
  /// Whether entries wait for a member once it has caught up.
  func mayVote(_ peer: PeerID, at now: Instant) -> Bool {
    conduct[peer]?.suspension.isOver(at: now) ?? true
  }

  /// Whether a member's claim to be connected with more peers counts.
  func mayClaimReach(_ peer: PeerID, at now: Instant) -> Bool {
    conduct[peer]?.claims.isOver(at: now) ?? true
  }

  /// Whether a peer may be asked to lead.
  func isTrusted(_ peer: PeerID, at now: Instant) -> Bool {
    conduct[peer]?.distrust.isOver(at: now) ?? true
  }

  /// Notes that the group was handed over because of what the peer claims. Its next claim counts
  /// only after a long time, so that a peer that lies cannot hold up the group again and again.
  mutating func noteClaim(_ peer: PeerID, at now: Instant) {
    let interval = options.claimInterval
    conduct.update(peer, at: now) { $0.claims.begin(interval, at: now) }
  }

  mutating func distrust(_ peer: PeerID, at now: Instant) {
    let interval = options.distrustInterval
    conduct.update(peer, at: now) { $0.distrust.begin(interval, at: now) }
  }

  mutating func noteRefusal(by peer: PeerID, at now: Instant) {
    if conduct.update(peer, at: now, { $0.noteRefusal(at: now) }) { distrust(peer, at: now) }
  }

  /// Charges a member with the time for which it has owed acknowledgements that others wait for.
  /// Returns whether it has held them up for too long.
  mutating func chargeHoldUp(by peer: PeerID, at now: Instant) -> Bool {
    guard var member = members[peer], member.isVoting, member.acknowledged < member.mark else {
      return false
    }
    // If this side itself has stood still for a while, the members are not to blame.
    let most = options.lagLimit + options.heartbeatInterval
    let time = min(now - max(member.markedAt, member.chargedAt), most)
    member.chargedAt = now
    members[peer] = member
    let (limit, pause) = (options.acknowledgementLimit, options.suspensionInterval)
    return conduct.update(peer, at: now) { conduct in
      guard conduct.charge(time, limit: limit, at: now) else { return false }
      conduct.suspension.begin(pause, at: now)
      return true
    }
  }
}
