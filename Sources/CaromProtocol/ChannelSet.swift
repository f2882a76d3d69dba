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
    /// Bytes of messages that cost credit which have left, charges included.
    var sent: UInt64 = 0
    /// How many may ever leave.
    var sendLimit = UInt64(ChannelLimits.window)
    var credit = ReceiveCredit()
    /// Whether the peer is to be told of `credit`.
    var isCreditDue = false
  }

  static let absent = UInt16.max
  static let modes = MessageMode.allCases.count

  // Both directions.
  var arena = MessageArena()
  var channels: [Channel] = []
  var channelTable = [UInt8](repeating: .max, count: ChannelLimits.channels)
  var clock = Instant.zero
  var events = Ring<ChannelEvent>()
  /// What was counted.
  package internal(set) var statistics = ChannelStatistics()

  // Sending.
  var lanes: [SendLane] = []
  var laneTable = [UInt16](repeating: absent, count: ChannelLimits.channels * modes)
  var scheduler = Scheduler()
  var pieces = PieceTable()
  var riders = Riders()
  var receipts = OpenReceipts()
  var nextTicket: UInt64 = 0
  var packetCount: UInt64 = 0
  var packetLimit = 1200 - ChannelLimits.wholeReserve
  var earliestDeadline = Int64.max
  var lastSearch = Instant(nanoseconds: .min)
  var unreliableBytes = 0
  var unreliableCount = 0
  var wantsRoom = false
  var creditsDue = 0
  /// Bytes of reliable messages that are not acknowledged, charges included.
  package internal(set) var queuedBytes = 0
  /// Bytes that have not left yet, not counting those to be sent again.
  package internal(set) var pendingBytes = 0

  // Receiving.
  var receiveLanes: [ReceiveLane] = []
  var receiveTable = [UInt16](repeating: absent, count: ChannelLimits.channels * modes)
  var reassemblies = Reassemblies()
  var unreliablePartials = UnreliablePartials()
  var ready = ReadyQueue()
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
  /// Whether messages of the application's channels wait for the owner.
  package var hasMessages: Bool { !ready.isEmpty }
  /// Bytes of memory that messages have, both directions.
  package var heldBytes: Int { arena.heldBytes }

  /// Gives a channel its share; what was not given one has the plain one, the session's own
  /// channel comes before all.
  package mutating func setPlan(_ plan: ChannelPlan, for channel: UInt8) {
    let index = self.channel(channel)
    channels[index].plan = plan
    for mode in MessageMode.allCases {
      let lane = laneTable[Int(channel) * Self.modes + Int(mode.rawValue)]
      if lane != Self.absent { scheduler.set(plan, of: Int(lane)) }
    }
  }

  /// The place of a channel in `channels`, which it gets when it is used first.
  mutating func channel(_ number: UInt8) -> Int {
    precondition(number <= ChannelLimits.sessionChannel, "a channel is 0 to 64")
    let known = channelTable[Int(number)]
    if known != .max { return Int(known) }
    let isSession = number == ChannelLimits.sessionChannel
    channels.append(
      Channel(number: number, plan: isSession ? ChannelPlan(level: 0) : ChannelPlan()))
    channelTable[Int(number)] = UInt8(channels.count - 1)
    return channels.count - 1
  }

  /// The next event.
  package mutating func pollEvent() -> ChannelEvent? { events.popFirst() }

  mutating func tell(_ event: ChannelEvent) {
    guard events.count < ChannelLimits.events else {
      statistics.eventsDropped += 1
      return
    }
    events.append(event)
  }

  /// Lets windows grow that were used up within two round trips, and gives back memory that is
  /// not needed. Cheap; meant to be called about once a round trip.
  package mutating func growWindows(roundTrip: Int64, at now: Instant) {
    for index in channels.indices {
      let room = ChannelLimits.windowGrowth - windowGrowth
      let grown = channels[index].credit.grow(roundTrip: roundTrip, room: room, at: now)
      guard grown > 0 else { continue }
      windowGrowth += grown
      if channels[index].credit.raiseToWindow() { owe(index) }
    }
    guard now >= nextTrim else { return }
    nextTrim = now.advanced(byNanoseconds: 1_000_000_000)
    arena.trim()
    for index in lanes.indices { lanes[index].trim() }
    for index in receiveLanes.indices { receiveLanes[index].window.trim() }
    ready.trim()
    events.trim()
  }

  /// The peer is to be told of a channel's credit.
  mutating func owe(_ index: Int) {
    guard !channels[index].isCreditDue else { return }
    channels[index].isCreditDue = true
    creditsDue += 1
  }
}
