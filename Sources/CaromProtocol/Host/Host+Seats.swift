import CaromCore

// A host that has a port of its own tracks its seats in `seating`; the hosts of a group share the
// seats of the directory.
extension Host {
  /// Returns the number of player or spectator seats that are neither held nor requested. The host
  /// must not be in a group.
  package func freeSeats(forSpectators: Bool) -> Int { seating.free(forSpectators: forSpectators) }

  /// Declines all further requests for a seat.
  package mutating func closeSeats() { (seating.seats, seating.spectatorSeats) = (0, 0) }

  func hasSeats(for info: PeerInfo) -> Bool {
    (info.isSpectator ? seating.spectatorSeats : seating.seats) > 0
  }

  /// Grants a connection the seat that its peer requested. If another connection held the seat,
  /// that connection is closed.
  package mutating func admit(_ id: ConnectionID, at now: Instant) {
    guard let peer = requestingPeer(on: id), index(of: id).map(isQuestion) == false else { return }
    guard member == nil else { return directoryRequests.append(.admit(id)) }
    apply(seating.admit(id, peer), to: id, at: now)
  }

  /// Returns the peer whose request on this connection has not been answered, or nil if there is
  /// none.
  func requestingPeer(on id: ConnectionID) -> PeerID? {
    guard let index = index(of: id),
      case .requested(let info, _) = entries[index].connection.state
    else { return nil }
    return info.id
  }

  mutating func requestSeat(for info: PeerInfo, on id: ConnectionID, at now: Instant) {
    if let index = index(of: id), isQuestion(index) {
      // Nothing is reserved, so that the peer keeps a seat that it has, and takes nobody's.
      entries[index].peer = info
      return report(.asked(id, info))
    }
    guard member == nil else { return directoryRequests.append(.seat(id, info)) }
    if hasSeats(for: info) {
      apply(seating.request(id, info), to: id, info, at: now)
    } else if let index = index(of: id) {
      declineAsFull(index, info, at: now)
    }
  }

  /// Releases the seat that a connection held or had requested, because the connection has ended.
  mutating func releaseSeat(of peer: PeerID, _ id: ConnectionID) {
    if member == nil {
      seating.release(id, peer)
    } else {
      directoryRequests.append(.releaseSeat(id, peer))
    }
  }

  /// Passes a request for a seat to the host's owner, or declines it if all seats are taken.
  mutating func apply(
    _ answer: Seating.Answer, to id: ConnectionID, _ info: PeerInfo, at now: Instant
  ) {
    guard let index = index(of: id) else { return }
    switch answer {
    case .reserved: reportRequest(index, info, replacing: nil)
    case .replacing(let old): reportRequest(index, info, replacing: old)
    case .full: declineAsFull(index, info, at: now)
    }
  }

  private mutating func reportRequest(
    _ index: Int, _ info: PeerInfo, replacing old: ConnectionID?
  ) {
    entries[index].peer = info
    report(.requested(entries[index].id, info, replacing: old))
  }

  mutating func declineAsFull(_ index: Int, _ info: PeerInfo, at now: Instant) {
    entries[index].peer = info
    entries[index].connection.close(Goodbye(.full), as: .full, at: now)
    refresh(index, at: now)
  }

  /// Carries out an admission: grants the peer its seat, after closing the connection that held the
  /// seat, if any. If the peer has since requested a seat on another connection, closes this one
  /// instead.
  mutating func apply(_ admission: Seating.Admission, to id: ConnectionID, at now: Instant) {
    switch admission {
    case .seated: grantSeat(to: id, at: now)
    case .evicting(let old) where member == nil || old.member == member:
      close(old, Goodbye(.replaced), as: .replaced, at: now)
      grantSeat(to: id, at: now)
    case .evicting(let old): handoffs.append((.evict(old, for: id), old.member))
    case .superseded: close(id, Goodbye(.replaced), as: .replaced, at: now)
    }
  }

  /// Grants a connection its seat, after the connection that held the seat has been closed. In a
  /// group, another host may have closed it.
  package mutating func grantSeat(to id: ConnectionID, at now: Instant) {
    guard let index = index(of: id) else { return }
    entries[index].connection.admit(at: now)
    refresh(index, at: now)
  }
}
