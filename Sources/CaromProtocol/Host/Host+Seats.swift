import CaromCore

// Who may sit: a host by itself keeps its own seating, those of a group share the directory's.
extension Host {
  /// How many seats nobody holds or has asked for; of a host by itself.
  package var freeSeats: Int { freeSeats(forSpectators: false) }

  /// How many seats of players, or of spectators, nobody holds or has asked for; of a host by
  /// itself.
  package func freeSeats(forSpectators: Bool) -> Int { seating.free(forSpectators: forSpectators) }

  /// Seats nobody any more.
  package mutating func closeSeats() { (seating.seats, seating.spectatorSeats) = (0, 0) }

  func hasSeats(for info: PeerInfo) -> Bool {
    (info.isSpectator ? seating.spectatorSeats : seating.seats) > 0
  }

  /// Answers a request: the peer gets the seat, and whoever kept it warm says goodbye.
  package mutating func admit(_ link: ConnectionID, at now: Instant) {
    guard let id = asker(on: link) else { return }
    guard member == nil else { return matters.append(.admit(link)) }
    take(seating.admit(link, id), for: link, at: now)
  }

  /// Who waits for an answer there.
  func asker(on link: ConnectionID) -> PeerID? {
    guard let index = index(of: link),
      case .requested(let info, _) = entries[index].connection.state
    else { return nil }
    return info.id
  }

  /// A peer asks for a seat.
  mutating func ask(_ link: ConnectionID, _ info: PeerInfo, at now: Instant) {
    guard member == nil else { return matters.append(.request(link, info)) }
    if hasSeats(for: info) {
      take(seating.ask(link, info), for: link, info, at: now)
    } else if let index = index(of: link) {
      turnDown(index, at: now)
    }
  }

  /// A link that asked for a seat has ended.
  mutating func leave(_ link: ConnectionID, _ id: PeerID) {
    if member == nil { seating.leave(link, id) } else { matters.append(.leave(link, id)) }
  }

  /// What the seating says to a peer that asks.
  mutating func take(
    _ answer: Seating.Answer, for link: ConnectionID, _ info: PeerInfo, at now: Instant
  ) {
    guard let index = index(of: link) else { return }
    switch answer {
    case .free: note(request: index, info, replacing: nil)
    case .replacing(let old): note(request: index, info, replacing: old)
    case .full: turnDown(index, at: now)
    }
  }

  private mutating func note(request index: Int, _ info: PeerInfo, replacing old: ConnectionID?) {
    entries[index].peer = info
    events.append(.requested(links[index], info, replacing: old))
  }

  mutating func turnDown(_ index: Int, at now: Instant) {
    entries[index].connection.close(Goodbye(.full), as: .full, at: now)
    settle(index, at: now)
  }

  /// What the seating says of a peer that its owner admits.
  mutating func take(_ admittance: Seating.Admittance, for link: ConnectionID, at now: Instant) {
    switch admittance {
    case .seated: seat(link, at: now)
    case .evicting(let old) where member == nil || old.member == member:
      close(old, Goodbye(.replaced), as: .replaced, at: now)
      seat(link, at: now)
    case .evicting(let old): mail.append((.evict(old, for: link), old.member))
    case .superseded: close(link, Goodbye(.replaced), as: .replaced, at: now)
    }
  }

  /// Whoever had the seat of a link is gone.
  package mutating func handleEvicted(for link: ConnectionID, at now: Instant) {
    seat(link, at: now)
  }

  private mutating func seat(_ link: ConnectionID, at now: Instant) {
    guard let index = index(of: link) else { return }
    entries[index].connection.admit(at: now)
    settle(index, at: now)
  }
}
