import CaromCore

/// Tracks which peers hold the seats of a host or a group of hosts, and which peers wait to take
/// over a seat.
///
/// A peer that reconnects claims the seat of its older connection. If no seat is free, a peer
/// claims the seat of a computer opponent that yields. The peer gets the seat once the host's owner
/// admits it or the other connection ends.
package struct Seating: Sendable {
  /// The result of a request for a seat.
  package enum Answer: Hashable, Sendable {
    /// A seat is reserved for the peer.
    case reserved
    /// A seat becomes available once this connection is closed.
    case replacing(ConnectionID)
    /// No seat is available.
    case full
  }

  /// The result of admitting a peer.
  package enum Admission: Hashable, Sendable {
    case seated
    /// The peer gets the seat of this connection, which must be closed first.
    case evicting(ConnectionID)
    /// The same peer has since requested a seat on another connection.
    case superseded
  }

  private struct Claim: Sendable {
    var peer: PeerID
    var connection: ConnectionID
    var isSpectator: Bool
    var yields: Bool

    init(_ connection: ConnectionID, _ info: PeerInfo) {
      peer = info.id
      self.connection = connection
      isSpectator = info.isSpectator
      yields = info.yieldsSeat
    }
  }

  /// A taken seat, with the peer that holds it and the peer, if any, that waits to take it over.
  private struct Seat: Sendable {
    var holder: Claim
    var successor: Claim?
  }

  /// The number of player seats of the host or of the whole group.
  package var seats: Int
  /// The number of spectator seats, which are counted in addition to `seats`.
  package var spectatorSeats: Int
  /// The taken seats, by the peer that holds each. The dictionary is never iterated, because its
  /// order is not deterministic.
  private var held: [PeerID: Seat] = [:]
  /// For each waiting peer, the holder of the seat that it claims.
  private var targets: [PeerID: PeerID] = [:]
  /// The holders that asked to yield their seats (`PeerInfo.yieldsSeat`), in the order in which
  /// they took the seats.
  private var yielding: [PeerID] = []
  private var takenByPlayers = 0
  private var takenBySpectators = 0

  package init(seats: Int, spectatorSeats: Int = 0) {
    self.seats = seats
    self.spectatorSeats = spectatorSeats
  }

  /// Returns the number of spectator or player seats that are neither held nor reserved.
  package func free(forSpectators: Bool) -> Int {
    forSpectators ? max(0, spectatorSeats - takenBySpectators) : max(0, seats - takenByPlayers)
  }

  private mutating func count(_ claim: Claim, by step: Int) {
    if claim.isSpectator { takenBySpectators += step } else { takenByPlayers += step }
  }
}

// MARK: - Requests
extension Seating {
  /// Handles a peer's request for a seat, received on a connection, and returns the answer.
  package mutating func request(_ connection: ConnectionID, _ info: PeerInfo) -> Answer {
    if let target = targets[info.id] { dropSuccessor(of: target) }
    let request = Claim(connection, info)
    let hasRoom = free(forSpectators: info.isSpectator) > 0
    if let old = held[info.id] {
      // The peer reconnected before its old connection timed out.
      guard hasRoom || old.holder.isSpectator == request.isSpectator else { return .full }
      return claim(request, on: info.id, old)
    }
    if hasRoom {
      count(request, by: 1)
      hold(request)
      return .reserved
    }
    guard !request.yields, let target = firstYielding(asSpectator: request.isSpectator),
      let seat = held[target]
    else { return .full }
    return claim(request, on: target, seat)
  }

  private func firstYielding(asSpectator isSpectator: Bool) -> PeerID? {
    yielding.first { peer in
      held[peer].map { $0.successor == nil && $0.holder.isSpectator == isSpectator } ?? false
    }
  }

  private mutating func claim(_ request: Claim, on target: PeerID, _ seat: Seat) -> Answer {
    if seat.successor != nil { dropSuccessor(of: target) }
    if request.isSpectator != seat.holder.isSpectator { count(request, by: 1) }
    held[target]?.successor = request
    targets[request.peer] = target
    return .replacing(seat.holder.connection)
  }

  private mutating func dropSuccessor(of target: PeerID) {
    guard let seat = held[target], let successor = seat.successor else { return }
    held[target]?.successor = nil
    targets[successor.peer] = nil
    if successor.isSpectator != seat.holder.isSpectator { count(successor, by: -1) }
  }

  private mutating func hold(_ claim: Claim) {
    held[claim.peer] = Seat(holder: claim)
    if claim.yields { yielding.append(claim.peer) }
  }

  private mutating func removeHolder(of seat: Seat) {
    held[seat.holder.peer] = nil
    if seat.holder.yields { yielding.removeAll { $0 == seat.holder.peer } }
  }
}

// MARK: - Admission and release
extension Seating {
  /// Gives a peer the seat that it requested on a connection, unless the peer has since requested
  /// one on another connection. Returns the result, with the connection that must be closed first,
  /// if any.
  package mutating func admit(_ connection: ConnectionID, _ peer: PeerID) -> Admission {
    if held[peer]?.holder.connection == connection { return .seated }
    guard let target = targets[peer], let seat = held[target],
      seat.successor?.connection == connection
    else {
      return .superseded
    }
    passToSuccessor(seat)
    return .evicting(seat.holder.connection)
  }

  /// Releases the seat that a connection held or had requested, because the connection has ended.
  package mutating func release(_ connection: ConnectionID, _ peer: PeerID) {
    if let seat = held[peer], seat.holder.connection == connection {
      if seat.successor != nil { return passToSuccessor(seat) }
      count(seat.holder, by: -1)
      removeHolder(of: seat)
    } else if let target = targets[peer], held[target]?.successor?.connection == connection {
      dropSuccessor(of: target)
    }
  }

  private mutating func passToSuccessor(_ seat: Seat) {
    guard let successor = seat.successor else { return }
    targets[successor.peer] = nil
    removeHolder(of: seat)
    if successor.isSpectator != seat.holder.isSpectator { count(seat.holder, by: -1) }
    hold(successor)
  }
}
