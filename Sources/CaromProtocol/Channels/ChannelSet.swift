import CaromCore

/// All messages of one connection: what is to be sent waits here, leaves in packets of any path,
/// and is sent again until it is acknowledged; what comes is put in order and handed on once.
///
/// It knows no link: packets are filled with its frames, and their `FrameRecord`s come back when
/// the packet is acknowledged or lost, each once, whatever the path.
package struct ChannelSet: Sendable {
  /// What one channel may send and what its peer may send.
  struct Channel: Sendable {
    let number: UInt8
    var plan: ChannelPlan
    var credit = ReceiveCredit()
    var traffic = ChannelTraffic()
    /// Whether the peer is to be told of `credit`.
    var isCreditDue = false
    /// The places of its lanes by their modes, of what it sends and of what it receives.
    var sends = Lanes(repeating: absent)
    var receives = Lanes(repeating: absent)
  }

  static let absent = UInt16.max
  /// A lane for each mode.
  typealias Lanes = InlineArray<5, UInt16>

  var channels: [Channel] = []
  /// The places of the channels in `channels`, by their numbers.
  var channelTable = InlineArray<65, UInt8>(repeating: .max)

  // Sending.
  var outgoing = SendState()
  var lanes: [SendLane] = []
  var scheduler = Scheduler()
  var lastSearch = Instant(nanoseconds: .min)
  var creditsDue = 0

  // Receiving.
  var arena = MessageArena()
  var counts = ChannelStatistics()
  var receiveLanes: [ReceiveLane] = []
  var reassemblies = Reassemblies()
  var unreliablePartials = UnreliablePartials()
  var ready = ReadyQueue()
  /// What the owner does not take now, apart from the rest, so that it stands in nobody's way.
  var parked: [ParkedMessages] = []
  var sessionReady = ReadyQueue()
  var unreliableReadyBytes = 0
  var unreliableReadyCount = 0
  var windowGrowth = 0
  var nextTrim = Instant.zero

  package init() {}

  /// Whether something waits that should not wait for bulk.
  package var hasUrgent: Bool { scheduler.hasSmall || creditsDue > 0 }
  /// Whether anything waits that could leave now.
  package var hasPending: Bool { scheduler.hasAny || creditsDue > 0 }
  /// Whether no reliable message waits or is unacknowledged.
  package var isDrained: Bool { queuedBytes == 0 }
  /// Bytes of reliable messages that are not acknowledged, charges included.
  package var queuedBytes: Int { outgoing.queuedBytes }
  /// Bytes that have not left yet, not counting those to be sent again.
  package var pendingBytes: Int { outgoing.pendingBytes }
  /// Whether messages of the application's channels wait for the owner.
  package var hasMessages: Bool { !ready.isEmpty || !parked.isEmpty }
  /// Whether messages of the session's own channel wait.
  var hasSessionMessage: Bool { !sessionReady.isEmpty }
  /// Bytes of memory that messages have, both directions.
  package var heldBytes: Int { arena.heldBytes + outgoing.arena.heldBytes }

  /// How many bytes the windows of all channels may still grow.
  package var windowGrowthLeft: Int { ChannelLimits.windowGrowth - windowGrowth }

  /// What a channel has carried.
  package func traffic(of channel: UInt8) -> ChannelTraffic {
    let index = channelTable[Int(channel)]
    return index == .max ? ChannelTraffic() : channels[Int(index)].traffic
  }

  /// What was counted.
  package var statistics: ChannelStatistics {
    var sum = outgoing.statistics
    sum.messagesReceived = counts.messagesReceived
    sum.stale = counts.stale
    sum.incomplete = counts.incomplete
    return sum
  }

  /// Gives a channel its share; what was not given one has the plain one, the session's own
  /// channel comes before all.
  package mutating func setPlan(_ plan: ChannelPlan, for channel: UInt8) {
    let index = self.channel(channel)
    channels[index].plan = plan
    for delivery in Delivery.allCases {
      if let lane = sendLane(of: channel, delivery) { scheduler.set(plan, of: lane) }
    }
  }

  /// The place of a channel in `channels`, which it gets when it is used first.
  mutating func channel(_ number: UInt8) -> Int {
    precondition(number <= ChannelLimits.sessionChannel, "a channel is 0 to 64")
    let known = channelTable[Int(number)]
    if known != .max { return Int(known) }
    let isSession = number == ChannelLimits.sessionChannel
    channels.append(
      Channel(number: number, plan: isSession ? ChannelPlan(priority: 0) : ChannelPlan()))
    outgoing.credits.append(SendCredit())
    channelTable[Int(number)] = UInt8(channels.count - 1)
    return channels.count - 1
  }

  /// The next event.
  package mutating func pollEvent() -> ChannelEvent? { outgoing.events.popFirst() }

  /// Lets windows grow that were used up within two round trips, and gives back memory that is
  /// not needed. Cheap; meant to be called about once a round trip.
  package mutating func growWindows(roundTrip: Int64, at now: Instant) {
    for index in channels.indices {
      let grown = channels[index].credit.grow(
        roundTrip: roundTrip, room: windowGrowthLeft, at: now)
      guard grown > 0 else { continue }
      windowGrowth += grown
      if channels[index].credit.raiseToWindow() { owe(index) }
    }
    guard now >= nextTrim else { return }
    nextTrim = now.advanced(byNanoseconds: 1_000_000_000)
    arena.trim()
    outgoing.arena.trim()
    for index in lanes.indices { lanes[index].trim() }
    for index in receiveLanes.indices { receiveLanes[index].window.trim() }
    ready.trim()
    outgoing.events.trim()
  }

  /// The peer is to be told of a channel's credit.
  mutating func owe(_ index: Int) {
    guard !channels[index].isCreditDue else { return }
    channels[index].isCreditDue = true
    creditsDue += 1
  }
}
