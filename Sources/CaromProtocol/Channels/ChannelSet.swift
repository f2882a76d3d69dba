import CaromCore

/// All messages of one connection. A `ChannelSet` queues messages to the peer, writes them into the
/// packets of any path, and sends reliable messages again until they are acknowledged. It
/// reassembles and orders messages from the peer and delivers each to the application once.
///
/// A `ChannelSet` does not depend on paths. A path calls `fill` to fill its packets with frames,
/// and returns each `FrameRecord` exactly once, when its packet is acknowledged or lost.
package struct ChannelSet: Sendable {
  /// The state of one channel, in both directions.
  struct Channel: Sendable {
    let number: UInt8
    var plan: ChannelPlan
    /// Whether the limit of `credit` must be sent to the peer.
    var isCreditDue = false
    /// The indexes of the channel's send lanes in `ChannelSet.lanes`.
    var sends = LaneIndexes(repeating: absent)
    /// The indexes of the channel's receive lanes in `ChannelSet.receiveLanes`.
    var receives = LaneIndexes(repeating: absent)
    var credit = ReceiveCredit()
  }

  /// The lane that was used last in one direction. A packet that goes to it again need not load
  /// `channelTable` and `channels`.
  struct LastLane: Sendable {
    private var key = UInt16.max
    private var index: UInt16 = 0

    /// Returns the lane's index if it is the lane of this channel and delivery.
    @inline(__always) func index(of channel: UInt8, _ delivery: Delivery) -> Int? {
      key == Self.key(of: channel, delivery) ? Int(index) : nil
    }

    mutating func set(_ index: Int, of channel: UInt8, _ delivery: Delivery) {
      key = Self.key(of: channel, delivery)
      self.index = UInt16(index)
    }

    @inline(__always)
    private static func key(of channel: UInt8, _ delivery: Delivery) -> UInt16 {
      UInt16(channel) << 8 | UInt16(delivery.rawValue)
    }
  }

  /// The index that stands for a missing lane.
  static let absent = UInt16.max
  /// One lane index for each raw value of `Delivery`.
  typealias LaneIndexes = InlineArray<5, UInt16>

  // The properties that every packet needs are adjacent, from the end of `sendState` on. Those of
  // fragments, growing windows and lanes other than the last ones stand before them.
  var reassemblies = Reassemblies()
  var unreliablePartials = UnreliablePartials()
  var unreliableReadyBytes: Int32 = 0
  var unreliableReadyCount: Int32 = 0
  /// The number of bytes by which the receive windows of all channels have grown in total.
  private var windowGrowth: Int32 = 0
  var lastExpirySearch = Instant(nanoseconds: .min)
  var channels: [Channel] = []
  /// The index in `channels` of each channel number; `.max` for a channel that has not been used.
  var channelTable = InlineArray<65, UInt8>(repeating: .max)
  var sendState = SendState()
  var nextTrim = Instant.zero
  /// The complete messages of the session's own channel.
  var sessionReady = ReadyQueue()
  /// The complete messages of the application's channels that have not been read.
  var ready = ReadyQueue()
  /// The complete messages of channels whose reader is behind. They are kept out of `ready` so that
  /// they do not delay other channels.
  var parked: [ParkedMessages] = []
  var receiveLanes: [ReceiveLane] = []
  /// Whether the growth of a receive window may be due: a reader has returned credit.
  var hasReturnedCredit = false
  /// The number of channels whose `isCreditDue` is true.
  var creditsDue: Int32 = 0
  var lastSent = LastLane()
  var lastReceived = LastLane()
  var lanes: [SendLane] = []
  var scheduler = Scheduler()

  package init() {}

  /// Whether small messages or credits, which should not wait behind bulk, can be sent now.
  package var hasUrgent: Bool { scheduler.hasSmall || creditsDue > 0 }
  /// Whether any message or credit can be sent now.
  package var hasPending: Bool { scheduler.hasAny || creditsDue > 0 }
  /// Whether any message or credit has to be sent, now or when the peer's credit or an
  /// acknowledgement allows it.
  var hasUnsent: Bool { hasPending || lanes.contains { $0.hasUnsent } }
  /// Whether all reliable messages have been acknowledged.
  package var isDrained: Bool { queuedBytes == 0 }
  /// The number of bytes of reliable messages that are queued or unacknowledged, including
  /// `messageCharge` bytes for each message.
  package var queuedBytes: Int { sendState.queuedBytes }
  /// The number of acknowledged frames of messages that need credit. It stands still if the peer
  /// reads nothing. The counter wraps around.
  package var acknowledgedFrames: UInt32 { sendState.acknowledgedFrames }
  /// The number of bytes of messages that have not been sent even once. Bytes waiting to be sent
  /// again do not count.
  package var pendingBytes: Int { sendState.pendingBytes }
  /// Whether there are unread messages of the application's channels, parked ones included.
  package var hasMessages: Bool { !ready.isEmpty || !parked.isEmpty }
  /// Whether there are unread messages of the session's own channel.
  var hasSessionMessage: Bool { !sessionReady.isEmpty }
  /// The number of bytes of memory allocated for messages, in both directions.
  package var heldBytes: Int { sendState.arena.heldBytes }

  /// The number of bytes by which the receive windows of all channels together may still grow.
  package var windowGrowthLeft: Int { ChannelLimits.windowGrowth - Int(windowGrowth) }

  /// Returns the counters of the messages and bytes that a channel has carried in both directions.
  package func traffic(of channel: UInt8) -> ChannelTraffic {
    var traffic = ChannelTraffic()
    for lane in lanes where lane.channel == channel {
      traffic.messagesSent += lane.messagesSent
      traffic.bytesSent += lane.bytesSent
    }
    for lane in receiveLanes where lane.channel == channel {
      traffic.messagesReceived += lane.messagesReceived
      traffic.bytesReceived += lane.bytesReceived
    }
    return traffic
  }

  /// The counters of sent and received messages together.
  package var statistics: ChannelStatistics {
    var statistics = sendState.statistics
    statistics.messagesSent = lanes.reduce(0) { $0 + $1.messagesSent }
    statistics.messagesReceived = receiveLanes.reduce(0) { $0 + $1.messagesReceived }
    return statistics
  }

  /// Sets the priority and weight of a channel. Before the first call, an application channel has
  /// the default plan, and the session's own channel has priority 0.
  package mutating func setPlan(_ plan: ChannelPlan, for channel: UInt8) {
    let index = self.index(ofChannel: channel)
    channels[index].plan = plan
    for delivery in Delivery.allCases {
      if let lane = sendLane(of: channel, delivery) { scheduler.set(plan, of: lane, in: &lanes) }
    }
  }

  /// Returns the index of a channel in `channels`. The channel is added on its first use.
  mutating func index(ofChannel number: UInt8) -> Int {
    precondition(number <= ChannelLimits.sessionChannel, "a channel is 0 to 64")
    let known = channelTable[Int(number)]
    if known != .max { return Int(known) }
    let isSession = number == ChannelLimits.sessionChannel
    channels.append(
      Channel(number: number, plan: isSession ? ChannelPlan(priority: 0) : ChannelPlan()))
    sendState.credits.append(SendCredit())
    channelTable[Int(number)] = UInt8(channels.count - 1)
    return channels.count - 1
  }

  var hasEvents: Bool { !sendState.events.isEmpty }

  /// Removes and returns the next event, or nil if there is none.
  package mutating func pollEvent() -> ChannelEvent? { sendState.events.popFirst() }

  /// Doubles each receive window that was used up within two round trips, and frees unused memory
  /// once a second. Call about once per round trip; `roundTrip` is in nanoseconds.
  package mutating func growWindows(roundTrip: Int64, at now: Instant) {
    if hasReturnedCredit { growMeasuredWindows(roundTrip, at: now) }
    guard now >= nextTrim else { return }
    nextTrim = now.advanced(byNanoseconds: 1_000_000_000)
    sendState.arena.trim()
    for index in lanes.indices { lanes[index].trim() }
    for index in receiveLanes.indices { receiveLanes[index].window.trim() }
    ready.trim()
    sendState.events.trim()
  }

  private mutating func growMeasuredWindows(_ roundTrip: Int64, at now: Instant) {
    for index in channels.indices {
      let grown = channels[index].credit.grow(
        roundTrip: roundTrip, room: windowGrowthLeft, at: now)
      guard grown > 0 else { continue }
      windowGrowth += Int32(grown)
      if channels[index].credit.raiseToWindow() { scheduleCredit(index) }
    }
    hasReturnedCredit = channels.contains { $0.credit.isMeasured }
  }

  /// Schedules a credit frame with the limit of the channel at `index`.
  mutating func scheduleCredit(_ index: Int) {
    guard !channels[index].isCreditDue else { return }
    channels[index].isCreditDue = true
    creditsDue += 1
  }
}
