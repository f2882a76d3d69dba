import CaromCore
import CaromProtocol

// When connections are opened, and the peers that the mesh remembers.
extension Mesh {
  /// Makes the attempts that are due, and closes the connections that were not selected in time.
  package mutating func handleTimeout(at now: Instant) {
    // From the last entry, since an entry that nothing has to be remembered about is removed.
    for index in entries.indices.reversed() {
      guard let due = entries[index].nextTimeout, due <= now else { continue }
      expireCandidates(index, at: now)
      update(index, at: now)
    }
  }

  private mutating func expireCandidates(_ index: Int, at now: Instant) {
    let expired = entries[index].candidates.filter { $0.deadline <= now }
    guard !expired.isEmpty else { return }
    entries[index].candidates.removeAll { $0.deadline <= now }
    for candidate in expired { close(candidate.connection, Goodbye(.timedOut)) }
    if entries[index].isIdle { fail(index, .handshakeTimeout, at: now) }
  }

  /// Whether this side wants a connection to the peer.
  private func isDesired(_ entry: MeshEntry) -> Bool {
    entry.isWanted || options.joinsEveryone && entry.isFound && !entry.isDismissed
  }

  /// Opens a connection if one is wanted and due, or plans to do so; stops doing so if none is
  /// wanted any more. Removes the entry if nothing has to be remembered, so that `index` must not
  /// be used afterwards.
  mutating func update(_ index: Int, at now: Instant) {
    let entry = entries[index]
    if isDesired(entry) {
      if entry.isIdle { plan(index, at: now) }
    } else {
      entries[index].retryAt = nil
      cancelDial(index)
    }
    if entries[index].isForgettable { entries.remove(at: index) }
  }

  private mutating func plan(_ index: Int, at now: Instant) {
    let entry = entries[index]
    let due = entry.retryAt ?? now + firstDelay(of: entry)
    guard due <= now else {
      entries[index].retryAt = due
      return
    }
    entries[index].retryAt = nil
    entries[index].isDialing = true
    emit(.dial(entry.peer))
  }

  private mutating func firstDelay(of entry: MeshEntry) -> Duration {
    if isDecider(for: entry.peer) || entry.isWanted { return .zero }
    return options.dialBackDelay * Double.random(in: 1...1.5, using: &generator)
  }

  /// Counts a failed attempt and plans the next one.
  mutating func fail(_ index: Int, _ reason: DisconnectReason, at now: Instant) {
    if reason.isLasting { entries[index].isDismissed = true }
    delayRetry(index, at: now)
    emit(.failed(entries[index].peer, reason))
  }

  /// Plans the next attempt after a delay that doubles with each failure, of which chance takes up
  /// to a half.
  mutating func delayRetry(_ index: Int, at now: Instant) {
    let doublings = min(entries[index].failures, 16)
    let whole = min(options.longestRetryDelay, options.firstRetryDelay * (1 << doublings))
    entries[index].failures += 1
    entries[index].retryAt = now + whole * Double.random(in: 0.5...1, using: &generator)
  }

  mutating func cancelDial(_ index: Int) {
    guard entries[index].isDialing else { return }
    entries[index].isDialing = false
    emit(.cancelDial(entries[index].peer))
  }

  // MARK: Entries

  /// Returns the place of a peer's entry, or nil if there is none.
  func index(of peer: PeerID) -> Int? {
    let index = position(of: peer)
    return index < entries.count && entries[index].peer == peer ? index : nil
  }

  /// Returns the place of a peer's entry, which is added if there is none and there is room.
  mutating func insert(_ peer: PeerID) -> Int? {
    let index = position(of: peer)
    if index < entries.count, entries[index].peer == peer { return index }
    guard entries.count < Self.entryLimit else { return nil }
    entries.insert(MeshEntry(peer), at: index)
    return index
  }

  /// The place of the first entry whose id is not lower than `peer`.
  private func position(of peer: PeerID) -> Int {
    var range = 0..<entries.count
    while let middle = range.isEmpty ? nil : range.lowerBound + range.count / 2 {
      let isBefore = entries[middle].peer < peer
      range = isBefore ? middle + 1..<range.upperBound : range.lowerBound..<middle
    }
    return range.lowerBound
  }
}

extension DisconnectReason {
  /// Whether another attempt to connect would fail for the same reason. With codes, each attempt
  /// would also count against those that have the right one.
  fileprivate var isLasting: Bool {
    switch self {
    case .versionMismatch, .wrongApplication, .securityMismatch, .untrusted, .wrongCode: true
    default: false
    }
  }

  /// Whether the peer has ended the connection on purpose, so that this side does not connect to it
  /// until it is found again.
  var endsInterest: Bool {
    switch self {
    case .left, .finished, .kicked, .declined, .closedLocally: true
    default: false
    }
  }
}
