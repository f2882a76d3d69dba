import CaromCore

extension VirtualNetwork {
  // MARK: Conditions

  /// Sets the conditions of the link from one machine to another, in this direction only. Nil
  /// restores the network's conditions. The call has no effect if both hosts are on one machine:
  /// the delay between them is always 10 to 30 µs, and no datagram is lost.
  public mutating func setConditions(
    _ conditions: LinkConditions?, from: VirtualHost, to: VirtualHost
  ) {
    conditions?.check()
    let link = link(from: from.machine, to: to.machine)
    guard from.machine != to.machine else { return }
    links[link].hasOwnConditions = conditions != nil
    links[link].shared = conditions.map { SharedConditions($0) } ?? sharedConditions
    resumeStreams()
  }

  /// Sets the conditions of both directions between two hosts.
  public mutating func setProfile(
    _ profile: LinkProfile, from first: VirtualHost, to second: VirtualHost
  ) {
    setConditions(profile.outbound, from: first, to: second)
    setConditions(profile.inbound, from: second, to: first)
  }

  /// Applies the network's conditions to all links without conditions of their own.
  mutating func updateConditions() {
    conditions.check()
    sharedConditions = SharedConditions(conditions)
    for link in links.indices
    where !links[link].hasOwnConditions && links[link].from != links[link].to {
      links[link].shared = sharedConditions
    }
    resumeStreams()
  }

  private static let loopback = SharedConditions(
    LinkConditions(delay: .microseconds(10) ... .microseconds(30), chunkLength: 1...16_384))

  /// Returns the number of the link between two machines. Creates the link on first use.
  mutating func link(from: Int, to: Int) -> Int {
    if let number = linkNumbers[LinkKey(from: from, to: to)] { return number }
    let number = links.count
    var link = LinkSimulator(
      from: from, to: to, conditions: from == to ? Self.loopback : sharedConditions, seed: seed)
    if from != to, let reverse = linkNumbers[LinkKey(from: to, to: from)] {
      link.reverse = reverse
      links[reverse].reverse = number
    }
    if recordsQueues { link.history = QueueHistory() }
    links.append(link)
    linkNumbers[LinkKey(from: from, to: to)] = number
    return number
  }

  // MARK: Statistics

  /// Returns the statistics of the link from one host's machine to another's.
  public func counters(from: VirtualHost, to: VirtualHost) -> LinkCounters {
    state(from, to)?.counters ?? LinkCounters()
  }

  /// Returns the current length of a link's queue, in bytes.
  public func queueLength(from: VirtualHost, to: VirtualHost) -> Int {
    guard let link = state(from, to), let rate = link.conditions.rate else { return 0 }
    return link.queue.length(at: now, rate: rate)
  }

  /// Returns the history of the length of a link's queue. The history is empty unless
  /// `recordsQueues` is set.
  public func queueHistory(from: VirtualHost, to: VirtualHost) -> QueueHistory {
    state(from, to)?.history ?? QueueHistory()
  }

  private func state(_ from: VirtualHost, _ to: VirtualHost) -> LinkSimulator? {
    linkNumbers[LinkKey(from: from.machine, to: to.machine)].map { links[$0] }
  }

  // MARK: Transmission

  /// Returns the reason why no packet can pass a link now, or nil if packets can pass.
  func obstacle(on link: Int) -> DropReason? {
    let (from, to) = (links[link].from, links[link].to)
    if machines[from].isCrashed || machines[to].isCrashed { return .crash }
    if from == to { return nil }
    if machines[from].isCut || machines[to].isCut || links[link].conditions.isCut { return .cut }
    guard let a = machines[from].part, let b = machines[to].part, a != b else { return nil }
    return .cut
  }

  /// Sends a datagram over a link and schedules its arrival.
  mutating func pass(_ datagram: Datagram, over link: Int) {
    let isV6 = datagram.destination.address.isV6
    let payload = datagram.payload.count
    let length = WireLength.datagram(payload: payload, isV6: isV6)
    links[link].counters.sent += 1
    links[link].counters.bytesSent += length
    record(.sent, datagram, over: link)
    switch links[link].admit(payload: payload, length: length, isV6: isV6, at: now) {
    case .dropped(let reason): drop(datagram, over: link, for: reason)
    case .departs(let departure):
      let copyDelay = links[link].drawDuplication()
      carry(datagram, over: link, from: departure)
      guard let copyDelay else { return }
      links[link].counters.duplicated += 1
      counters.datagramsDuplicated += 1
      record(.duplicated, datagram, over: link)
      carry(datagram, over: link, from: departure + copyDelay)
    }
  }

  /// Applies loss, corruption and delay to one copy of a datagram, and schedules its arrival.
  private mutating func carry(_ original: Datagram, over link: Int, from departure: Instant) {
    let isV6 = original.destination.address.isV6
    if let reason = links[link].drawLoss(payload: original.payload.count, isV6: isV6) {
      drop(original, over: link, for: reason)
      return
    }
    var datagram = original
    if links[link].corrupt(&datagram.payload) {
      links[link].counters.corrupted += 1
      record(.corrupted, datagram, over: link)
    }
    let (time, isReordered) = links[link].drawArrival(from: departure)
    if isReordered {
      links[link].counters.reordered += 1
      record(.reordered, datagram, over: link)
    }
    timeline.insert(.datagram(datagram, link: link), at: time)
  }

  /// Counts a dropped datagram and adds it to the trace. `link` is nil if the datagram was not on a
  /// link.
  mutating func drop(_ datagram: Datagram, over link: Int? = nil, for reason: DropReason) {
    if let link { links[link].counters.dropped[reason] += 1 }
    counters.countDrop(for: reason)
    record(.dropped, datagram, over: link, reason: reason)
  }
}
