import CaromCore

@testable import CaromPlacement

/// Finds what must never be in a directory, like `MemoryDirectory.faults(at:)`, but looks only at
/// what may have changed since it looked last, and at what should have ended by now.
struct DirectoryInspector {
  /// What the matches of a host add up to.
  private struct Sum {
    var matches = 0
    var seats = 0
  }

  private struct KnownMatch {
    /// The host that has the match, and how many seats it uses there.
    var host: PeerID?
    var seats = 0
    /// When the inspector looks at the match again at the latest.
    var nextLook: Instant?
  }

  private struct KnownHost {
    var takesMatches = false
    var nextLook: Instant?
  }

  private var matches: [MatchID: KnownMatch] = [:]
  private var hosts: [PeerID: KnownHost] = [:]
  private var sums: [PeerID: Sum] = [:]
  private var takingMatches = 0
  private var matchLooks = DeadlineQueue<MatchID>()
  private var hostLooks = DeadlineQueue<PeerID>()
  /// The matches that the directory did not have any more when the inspector looked last.
  private(set) var forgotten: [MatchID] = []
  // What is looked at this time.
  private var changedHosts: [PeerID] = []
  private var changedMatches: [MatchID] = []

  /// Creates the inspector of a directory that is still empty.
  init(_ directory: inout MemoryDirectory) {
    directory.hosts.watch()
    directory.matches.watch()
  }

  /// What is wrong now, as sentences.
  mutating func faults(in directory: inout MemoryDirectory, at now: Instant) -> [String] {
    var faults: [String] = []
    forgotten.removeAll(keepingCapacity: true)
    directory.hosts.takeChanges(into: &changedHosts)
    directory.matches.takeChanges(into: &changedMatches)
    while let match = matchLooks.popFirst(until: now) { changedMatches.append(match) }
    while let host = hostLooks.popFirst(until: now) { changedHosts.append(host) }
    for id in changedMatches {
      let before = matches[id]?.host
      let host = note(id, directory.matches[id])
      faults += self.faults(of: id, in: directory, at: now)
      if let before, before != host { changedHosts.append(before) }
      if let host, changedHosts.last != host { changedHosts.append(host) }
    }
    for id in changedHosts {
      note(id, directory.hosts[id])
      faults += self.faults(of: id, in: directory, at: now)
    }
    var listed = 0
    for (pool, ranked) in directory.pools where pool.region.isEmpty { listed += ranked.count }
    if takingMatches != listed {
      faults.append("\(takingMatches) hosts take matches, \(listed) are listed")
    }
    return faults
  }

  /// Keeps the sums up to date. Returns the host of the match.
  private mutating func note(_ id: MatchID, _ entry: MatchEntry?) -> PeerID? {
    var known = matches[id] ?? KnownMatch()
    let (host, seats) = (entry.flatMap { $0.isHeld ? $0.claim.host : nil }, entry?.seats.count ?? 0)
    if known.host != host || known.seats != seats {
      if let host = known.host { add(-1, -known.seats, to: host) }
      if let host { add(1, seats, to: host) }
      (known.host, known.seats) = (host, seats)
    }
    if let next = entry?.nextEnd, next != known.nextLook {
      known.nextLook = next
      matchLooks.insert(id, at: next)
    }
    if entry == nil, matches[id] != nil { forgotten.append(id) }
    matches[id] = entry == nil ? nil : known
    return host
  }

  private mutating func add(_ matches: Int, _ seats: Int, to host: PeerID) {
    sums[host, default: Sum()].matches += matches
    sums[host, default: Sum()].seats += seats
  }

  private mutating func note(_ id: PeerID, _ entry: HostEntry?) {
    var known = hosts[id] ?? KnownHost()
    let takesMatches = entry?.rank != nil
    if takesMatches != known.takesMatches {
      known.takesMatches = takesMatches
      takingMatches += takesMatches ? 1 : -1
    }
    if let next = entry?.leaseEnd, next != known.nextLook {
      known.nextLook = next
      hostLooks.insert(id, at: next)
    }
    hosts[id] = entry == nil ? nil : known
  }

  private func faults(
    of id: MatchID, in directory: MemoryDirectory, at now: Instant
  ) -> [String] {
    guard let match = directory.matches[id] else { return [] }
    return match.faults(at: now).map { "\(id): \($0)" }
      + match.faults(at: directory.hosts[match.claim.host], id).map { "\(id): \($0)" }
  }

  private func faults(
    of id: PeerID, in directory: MemoryDirectory, at now: Instant
  ) -> [String] {
    let sum = sums[id] ?? Sum()
    guard let host = directory.hosts[id] else {
      return sum.matches == 0 ? [] : ["\(id): has matches without a lease"]
    }
    var faults = host.faults(seats: sum.seats, at: now)
    if host.matches.count != sum.matches { faults.append("has a match of another host") }
    return faults.map { "\(id): \($0)" }
  }
}

extension MatchEntry {
  /// When something of the match should end next.
  fileprivate var nextEnd: Instant? {
    var next = expiry
    if case .held(let confirmBy?) = phase { next = confirmBy }
    for case .reserved(let until) in seats.lazy.map(\.state) { next = earliest(next, until) }
    return next
  }
}
