import CaromCore

extension VirtualNetwork {
  // MARK: Conditions

  /// Gives the link from one machine to another conditions of its own, one direction; `nil` takes
  /// them away again. Inside a machine nothing is late or lost, whatever is set.
  public mutating func setConditions(
    _ conditions: LinkConditions?, from: VirtualHost, to: VirtualHost
  ) {
    conditions?.check()
    let link = link(from: from.machine, to: to.machine)
    guard from.machine != to.machine else { return }
    links[link].hasOwn = conditions != nil
    links[link].shared = conditions.map { SharedConditions($0) } ?? sharedConditions
    resumeStreams()
  }

  /// What the network's conditions are now holds for every link without its own.
  mutating func changeConditions() {
    conditions.check()
    sharedConditions = SharedConditions(conditions)
    for link in links.indices where !links[link].hasOwn && links[link].from != links[link].to {
      links[link].shared = sharedConditions
    }
    resumeStreams()
  }

  private static let loopback = SharedConditions(
    LinkConditions(delay: .microseconds(10) ... .microseconds(30), pieceLength: 1...16_384))

  /// The link's number; it is made when it is first used.
  mutating func link(from: Int, to: Int) -> Int {
    if let number = linkNumbers[Way(from: from, to: to)] { return number }
    let number = links.count
    var link = LinkSimulator(
      from: from, to: to, conditions: from == to ? Self.loopback : sharedConditions, seed: seed)
    if from != to, let reverse = linkNumbers[Way(from: to, to: from)] {
      link.reverse = reverse
      links[reverse].reverse = number
    }
    if recordsQueues { link.history = QueueHistory() }
    links.append(link)
    linkNumbers[Way(from: from, to: to)] = number
    return number
  }

  // MARK: Watching

  /// What became of the datagrams of a link.
  public func counters(from: VirtualHost, to: VirtualHost) -> LinkCounters {
    state(from, to)?.counters ?? LinkCounters()
  }

  /// How many bytes wait in front of a link's rate now.
  public func queueLength(from: VirtualHost, to: VirtualHost) -> Int {
    guard let link = state(from, to), let rate = link.conditions.rate else { return 0 }
    return link.queue.length(at: now, rate: rate)
  }

  /// How much waited in front of a link's rate over time; empty unless `recordsQueues`.
  public func queueHistory(from: VirtualHost, to: VirtualHost) -> QueueHistory {
    state(from, to)?.history ?? QueueHistory()
  }

  private func state(_ from: VirtualHost, _ to: VirtualHost) -> LinkSimulator? {
    linkNumbers[Way(from: from.machine, to: to.machine)].map { links[$0] }
  }

  // MARK: Passing

  /// Why nothing passes a link now.
  func obstacle(on link: Int) -> DropReason? {
    let (from, to) = (links[link].from, links[link].to)
    if machines[from].isCrashed || machines[to].isCrashed { return .crash }
    if from == to { return nil }
    if machines[from].isCut || machines[to].isCut || links[link].conditions.isCut { return .cut }
    guard let a = machines[from].part, let b = machines[to].part, a != b else { return nil }
    return .cut
  }

  /// Sends a datagram over a link: what comes out is scheduled.
  mutating func pass(_ datagram: Datagram, over link: Int) {
    let isV6 = datagram.destination.address.isV6
    let payload = datagram.payload.count
    let length = WireLength.datagram(payload: payload, isV6: isV6)
    links[link].counters.sent += 1
    links[link].counters.bytesSent += length
    record(.sent, datagram, over: link)
    switch links[link].admit(payload: payload, length: length, isV6: isV6, at: now) {
    case .dropped(let reason): drop(datagram, over: link, for: reason)
    case .leaves(let departure):
      let doubling = links[link].drawDoubling()
      carry(datagram, over: link, from: departure)
      guard let doubling else { return }
      links[link].counters.doubled += 1
      counters.datagramsDoubled += 1
      record(.doubled, datagram, over: link)
      carry(datagram, over: link, from: departure + doubling)
    }
  }

  /// Draws what becomes of one copy.
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
    let (time, isHeldBack) = links[link].drawArrival(from: departure)
    if isHeldBack {
      links[link].counters.reordered += 1
      record(.reordered, datagram, over: link)
    }
    timeline.insert(.datagram(datagram, link: link), at: time)
  }

  /// Counts a datagram that did not come out; without a link where it came to none.
  mutating func drop(_ datagram: Datagram, over link: Int? = nil, for reason: DropReason) {
    if let link { links[link].counters.dropped[reason] += 1 }
    counters.noteDrop(for: reason)
    record(.dropped, datagram, over: link, reason: reason)
  }
}
