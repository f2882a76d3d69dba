import CaromCore

/// Who holds the seats of hosts that share them, and who waits to take one over.
///
/// A peer that comes back, or one that a warm seat yields to, claims the seat of another link; it
/// has it once the owner admits it, or once that link is gone.
package struct Seating: Sendable {
  /// What a peer that asks for a seat is to be told.
  package enum Answer: Hashable, Sendable {
    /// The seat is kept for it.
    case free
    /// Admitting it ends the connection of that link.
    case replacing(ConnectionID)
    case full
  }

  /// What becomes of a peer that its owner admits.
  package enum Admittance: Hashable, Sendable {
    case seated
    /// It has the seat of that link, which is to go first.
    case evicting(ConnectionID)
    /// The same peer has asked on another link since.
    case superseded
  }

  private struct Claim: Sendable {
    var id: PeerID
    var link: ConnectionID
    var isSpectator: Bool
    var yields: Bool

    init(_ link: ConnectionID, _ info: PeerInfo) {
      id = info.id
      self.link = link
      isSpectator = info.isSpectator
      yields = info.yieldsSeat
    }
  }

  private struct Holder: Sendable {
    var own: Claim
    var claim: Claim?
  }

  /// How many peers may sit here at a time, over all hosts.
  package var seats: Int
  /// How many may look on, besides.
  package var spectatorSeats: Int
  /// Looked up, never gone through; one a connection at most.
  private var holders: [PeerID: Holder] = [:]
  /// Whose seat a peer claims.
  private var targets: [PeerID: PeerID] = [:]
  /// Holders who give their seat up for others, in the order of asking.
  private var yielding: [PeerID] = []
  private var taken = 0
  private var takenBySpectators = 0

  package init(seats: Int, spectatorSeats: Int = 0) {
    self.seats = seats
    self.spectatorSeats = spectatorSeats
  }

  /// How many seats nobody holds or has asked for.
  package func free(forSpectators: Bool) -> Int {
    forSpectators ? max(0, spectatorSeats - takenBySpectators) : max(0, seats - taken)
  }

  private mutating func count(_ claim: Claim, by step: Int) {
    if claim.isSpectator { takenBySpectators += step } else { taken += step }
  }
}

// MARK: - Asking
extension Seating {
  /// Somebody asks for a seat on a link.
  package mutating func ask(_ link: ConnectionID, _ info: PeerInfo) -> Answer {
    if let target = targets[info.id] { dropClaim(on: target) }
    let own = Claim(link, info)
    let hasRoom = free(forSpectators: info.isSpectator) > 0
    if let old = holders[info.id] {
      // The same peer came back before its old link was found dead.
      guard hasRoom || old.own.isSpectator == own.isSpectator else { return .full }
      return claim(own, on: info.id, old)
    }
    if hasRoom {
      count(own, by: 1)
      hold(own)
      return .free
    }
    guard !own.yields, let target = firstYielding(asSpectator: own.isSpectator),
      let holder = holders[target]
    else { return .full }
    return claim(own, on: target, holder)
  }

  private func firstYielding(asSpectator isSpectator: Bool) -> PeerID? {
    yielding.first { id in
      holders[id].map { $0.claim == nil && $0.own.isSpectator == isSpectator } ?? false
    }
  }

  private mutating func claim(_ own: Claim, on target: PeerID, _ holder: Holder) -> Answer {
    if holder.claim != nil { dropClaim(on: target) }
    if own.isSpectator != holder.own.isSpectator { count(own, by: 1) }
    holders[target]?.claim = own
    targets[own.id] = target
    return .replacing(holder.own.link)
  }

  private mutating func dropClaim(on target: PeerID) {
    guard let holder = holders[target], let claim = holder.claim else { return }
    holders[target]?.claim = nil
    targets[claim.id] = nil
    if claim.isSpectator != holder.own.isSpectator { count(claim, by: -1) }
  }

  private mutating func hold(_ own: Claim) {
    holders[own.id] = Holder(own: own)
    if own.yields { yielding.append(own.id) }
  }

  private mutating func release(_ holder: Holder) {
    holders[holder.own.id] = nil
    if holder.own.yields { yielding.removeAll { $0 == holder.own.id } }
  }
}

// MARK: - What becomes of it
extension Seating {
  /// The owner wants a peer to have the seat that it asked for on this link.
  package mutating func admit(_ link: ConnectionID, _ id: PeerID) -> Admittance {
    if holders[id]?.own.link == link { return .seated }
    guard let target = targets[id], let holder = holders[target], holder.claim?.link == link else {
      return .superseded
    }
    handOver(holder)
    return .evicting(holder.own.link)
  }

  /// A link that asked for a seat has ended.
  package mutating func leave(_ link: ConnectionID, _ id: PeerID) {
    if let holder = holders[id], holder.own.link == link {
      if holder.claim != nil { return handOver(holder) }
      count(holder.own, by: -1)
      release(holder)
    } else if let target = targets[id], holders[target]?.claim?.link == link {
      dropClaim(on: target)
    }
  }

  private mutating func handOver(_ holder: Holder) {
    guard let claim = holder.claim else { return }
    targets[claim.id] = nil
    release(holder)
    if claim.isSpectator != holder.own.isSpectator { count(holder.own, by: -1) }
    hold(claim)
  }
}
