import CaromCore

extension ChannelSet {
  /// Handles a frame with a whole message or a fragment. A message that can be read in place, at
  /// `offset` in the datagram, is added to `arrivals`. Throws if the peer has violated the
  /// protocol.
  mutating func receive(
    _ frame: borrowing MessageFrame, at offset: Int, into arrivals: inout Arrivals
  ) throws(DecodeError) {
    let limit = ChannelLimits.length(of: frame.delivery)
    guard frame.total <= limit else {
      throw .tooLarge(length: UInt64(frame.total), limit: UInt64(limit))
    }
    let lane = receiveLane(frame.channel, frame.delivery)
    switch frame.delivery {
    case .unreliable:
      guard frame.isFragment else { return deliver(frame, lane, at: offset, into: &arrivals) }
      try receiveUnreliableFragment(frame, lane, number: UInt64(frame.number))
    case .unreliableSequenced, .reliableSequenced:
      try receiveSequenced(frame, lane, at: offset, into: &arrivals)
    case .reliableOrdered, .reliableUnordered:
      try receiveNumbered(frame, lane, at: offset, into: &arrivals)
    }
  }

  /// Handles a frame with a whole message or a fragment. Always stores the message, even if it
  /// could be read in place.
  package mutating func receive(_ frame: borrowing MessageFrame) throws(DecodeError) {
    var none = Arrivals()
    try receive(frame, at: 0, into: &none)
  }

  private mutating func receiveLane(_ channel: UInt8, _ delivery: Delivery) -> Int {
    if let lane = lastReceived.index(of: channel, delivery) { return lane }
    let index = self.index(ofChannel: channel)
    var lane = Int(channels[index].receives[Int(delivery.rawValue)])
    if lane == Self.absent {
      lane = receiveLanes.count
      receiveLanes.append(ReceiveLane(channel: channel, delivery: delivery))
      channels[index].receives[Int(delivery.rawValue)] = UInt16(lane)
    }
    lastReceived.set(lane, of: channel, delivery)
    return lane
  }

  private mutating func channelIndex(_ lane: Int) -> Int {
    Int(channelTable[Int(receiveLanes[lane].channel)])
  }

  // MARK: Reliable ordered and unordered messages

  private mutating func receiveNumbered(
    _ frame: borrowing MessageFrame, _ lane: Int, at offset: Int, into arrivals: inout Arrivals
  ) throws(DecodeError) {
    let distance = receiveLanes[lane].distance(of: frame.number)
    guard distance >= 0 else {
      sendState.statistics.stale += 1
      return
    }
    guard distance < ChannelLimits.outstandingMessages else {
      throw .tooLarge(
        length: UInt64(distance), limit: UInt64(ChannelLimits.outstandingMessages))
    }
    if distance == 0, receiveLanes[lane].window.isEmpty, !frame.isFragment {
      let charge = frame.payload.count + ChannelLimits.messageCharge
      try channels[channelIndex(lane)].credit.receive(charge)
      receiveLanes[lane].next += 1
      return deliver(frame, lane, at: offset, into: &arrivals)
    }
    while receiveLanes[lane].window.count <= distance {
      receiveLanes[lane].window.append(ReceiveLane.Entry())
    }
    let entry = receiveLanes[lane].window[distance]
    guard entry.state != .whole else {
      sendState.statistics.stale += 1
      return
    }
    if frame.isFragment {
      try addFragment(frame, lane, distance)
    } else {
      try addWhole(frame, lane, distance)
    }
    deliverInOrder(lane)
  }

  private mutating func addWhole(
    _ frame: borrowing MessageFrame, _ lane: Int, _ position: Int
  ) throws(DecodeError) {
    let entry = receiveLanes[lane].window[position]
    var charge = frame.payload.count + ChannelLimits.messageCharge
    if entry.state == .partial {
      let assembly = reassemblies[entry.index]
      guard assembly.total == frame.total else {
        throw .invalid(what: "message: length unlike its fragments")
      }
      charge = assembly.total - assembly.bytes
    }
    try channels[channelIndex(lane)].credit.receive(charge)
    if entry.state == .partial { sendState.arena.release(finish(entry.index, lane)) }
    complete(sendState.arena.store(frame.payload), frame.total, lane, position)
  }

  private mutating func addFragment(
    _ frame: borrowing MessageFrame, _ lane: Int, _ position: Int
  ) throws(DecodeError) {
    let channel = channelIndex(lane)
    var entry = receiveLanes[lane].window[position]
    if entry.state == .missing {
      try channels[channel].credit.receive(ChannelLimits.messageCharge)
      entry.index = try reassemblies.begin(frame.total, needsCredit: true, arena: &sendState.arena)
      entry.state = .partial
      receiveLanes[lane].window[position] = entry
      if channels[channel].credit.reserve(frame.total) { scheduleCredit(channel) }
    }
    guard reassemblies[entry.index].total == frame.total else {
      throw .invalid(what: "fragment: different message length")
    }
    let count = try reassemblies.add(
      frame.payload, at: frame.offset, to: entry.index, arena: &sendState.arena)
    try channels[channel].credit.receive(count)
    guard reassemblies[entry.index].isComplete else { return }
    complete(finish(entry.index, lane), frame.total, lane, position)
  }

  /// Ends a reassembly, releases its reserved credit, and returns its buffer.
  private mutating func finish(_ index: Int32, _ lane: Int) -> MessageArena.Slot {
    channels[channelIndex(lane)].credit.unreserve(reassemblies[index].total)
    return reassemblies.finish(index, needsCredit: true)
  }

  /// Records that a message is complete. On an unordered lane, also queues the message for the
  /// application.
  private mutating func complete(
    _ buffer: MessageArena.Slot, _ length: Int, _ lane: Int, _ position: Int
  ) {
    var entry = ReceiveLane.Entry(state: .whole, index: buffer, length: UInt32(length))
    if receiveLanes[lane].delivery == .reliableUnordered {
      enqueue(buffer, length, lane)
      entry.index = MessageArena.none
    }
    receiveLanes[lane].window[position] = entry
  }

  /// Removes the complete messages at the front of the lane's window. Those that were not queued on
  /// arrival are queued for the application.
  private mutating func deliverInOrder(_ lane: Int) {
    while let entry = receiveLanes[lane].window.first, entry.state == .whole {
      receiveLanes[lane].window.popFirst()
      receiveLanes[lane].next += 1
      guard entry.index != MessageArena.none else { continue }
      enqueue(entry.index, Int(entry.length), lane)
    }
  }

  // MARK: Sequenced messages

  private mutating func receiveSequenced(
    _ frame: borrowing MessageFrame, _ lane: Int, at offset: Int, into arrivals: inout Arrivals
  ) throws(DecodeError) {
    let distance = receiveLanes[lane].distance(of: frame.number)
    guard distance >= 0 else {
      sendState.statistics.stale += 1
      return
    }
    let number = receiveLanes[lane].next + UInt64(distance)
    guard frame.isFragment else {
      overtake(number, lane)
      return deliver(frame, lane, at: offset, into: &arrivals)
    }
    guard receiveLanes[lane].delivery.isReliable else {
      return try receiveUnreliableFragment(frame, lane, number: number)
    }
    guard let index = try partial(number, frame.total, lane) else {
      sendState.statistics.stale += 1
      return
    }
    guard reassemblies[index].total == frame.total else {
      throw .invalid(what: "fragment: different message length")
    }
    _ = try reassemblies.add(frame.payload, at: frame.offset, to: index, arena: &sendState.arena)
    guard reassemblies[index].isComplete else { return }
    if receiveLanes[lane].oldest?.index == index {
      receiveLanes[lane].oldest = nil
    } else {
      receiveLanes[lane].newest = nil
    }
    let buffer = reassemblies.finish(index, needsCredit: false)
    overtake(number, lane)
    enqueue(buffer, frame.total, lane)
  }

  /// Advances the lane past the complete message `number`, which makes all older messages obsolete,
  /// and discards their reassemblies.
  private mutating func overtake(_ number: UInt64, _ lane: Int) {
    receiveLanes[lane].next = number + 1
    guard receiveLanes[lane].delivery.isReliable else {
      while let stale = unreliablePartials.popStale(before: number + 1, lane: lane) {
        discard(stale.index)
      }
      return
    }
    if let oldest = receiveLanes[lane].oldest, oldest.number <= number {
      discard(oldest.index)
      receiveLanes[lane].oldest = nil
    }
    if let newest = receiveLanes[lane].newest, newest.number <= number {
      discard(newest.index)
      receiveLanes[lane].newest = nil
    }
    if receiveLanes[lane].oldest == nil {
      receiveLanes[lane].oldest = receiveLanes[lane].newest
      receiveLanes[lane].newest = nil
    }
  }

  /// Returns the index of the reassembly to which a fragment of a reliable sequenced message
  /// belongs, beginning a new one if necessary.
  ///
  /// A lane has at most two reassemblies. If it has two, a message newer than both replaces the
  /// newer one, and a fragment of any other message is ignored: the result is `nil`.
  private mutating func partial(
    _ number: UInt64, _ total: Int, _ lane: Int
  ) throws(DecodeError) -> Int32? {
    guard let oldest = receiveLanes[lane].oldest else {
      let index = try reassemblies.begin(total, needsCredit: false, arena: &sendState.arena)
      receiveLanes[lane].oldest = ReceiveLane.Partial(number: number, index: index)
      return index
    }
    if oldest.number == number { return oldest.index }
    if let newest = receiveLanes[lane].newest {
      if newest.number == number { return newest.index }
      guard number > newest.number else { return nil }
      discard(newest.index)
    }
    let index = try reassemblies.begin(total, needsCredit: false, arena: &sendState.arena)
    let partial = ReceiveLane.Partial(number: number, index: index)
    if number > oldest.number {
      receiveLanes[lane].newest = partial
    } else {
      receiveLanes[lane].newest = oldest
      receiveLanes[lane].oldest = partial
    }
    return index
  }

  private mutating func discard(_ index: Int32) {
    sendState.arena.release(reassemblies.finish(index, needsCredit: false))
    sendState.statistics.incomplete += 1
  }

  // MARK: Unreliable messages

  private mutating func receiveUnreliableFragment(
    _ frame: borrowing MessageFrame, _ lane: Int, number: UInt64
  ) throws(DecodeError) {
    guard let index = try unreliablePartial(number, frame.total, lane) else { return }
    _ = try reassemblies.add(frame.payload, at: frame.offset, to: index, arena: &sendState.arena)
    guard reassemblies[index].isComplete else { return }
    unreliablePartials.remove(index)
    let buffer = reassemblies.finish(index, needsCredit: false)
    if frame.delivery.isSequenced { overtake(number, lane) }
    enqueue(buffer, frame.total, lane)
  }

  private mutating func unreliablePartial(
    _ number: UInt64, _ total: Int, _ lane: Int
  ) throws(DecodeError) -> Int32? {
    if let known = unreliablePartials.find(number, lane: lane) {
      if reassemblies[known.index].total == total { return known.index }
      // The 16-bit number has wrapped around, so the older message is long obsolete.
      unreliablePartials.remove(known.index)
      discard(known.index)
    }
    let index = try reassemblies.begin(total, needsCredit: false, arena: &sendState.arena)
    if let oldest = unreliablePartials.append(number, lane: lane, index: index) {
      discard(oldest.index)
    }
    return index
  }
}

// MARK: - Delivery to the owner

extension ChannelSet {
  /// Delivers a whole message: adds it to `arrivals` if the application can read it in place, and
  /// otherwise stores and queues it.
  @inline(__always)
  private mutating func deliver(
    _ frame: borrowing MessageFrame, _ lane: Int, at offset: Int, into arrivals: inout Arrivals
  ) {
    guard arrivals.connection != 0, arrivals.channels.contains(frame.channel), ready.isEmpty,
      parked.isEmpty
    else { return enqueue(sendState.arena.store(frame.payload), frame.total, lane) }
    count(frame.total, lane)
    arrivals.append(frame.delivery, frame.channel, at: offset, length: frame.total)
    if frame.delivery.needsCredit { returnCredit(for: frame.total, channelIndex(lane)) }
  }

  /// Counts a complete message.
  @inline(__always) private mutating func count(_ length: Int, _ lane: Int) {
    receiveLanes[lane].messagesReceived += 1
    receiveLanes[lane].bytesReceived += UInt64(length)
  }

  /// Queues a message for the application. A sequenced message replaces an older one that is
  /// unread. An unreliable message is dropped if too many are unread.
  private mutating func enqueue(_ buffer: MessageArena.Slot, _ length: Int, _ lane: Int) {
    let (channel, delivery) = (receiveLanes[lane].channel, receiveLanes[lane].delivery)
    if !delivery.isReliable {
      guard
        receiveLanes[lane].queued != nil
          || Int(unreliableReadyBytes) + length <= ChannelLimits.unreliableReceiveBytes
            && unreliableReadyCount < ChannelLimits.unreliableReceiveMessages
      else {
        sendState.arena.release(buffer)
        sendState.statistics.incomplete += 1
        return
      }
      unreliableReadyBytes += Int32(length)
      unreliableReadyCount += 1
    }
    let message = ReadyQueue.Message(
      buffer: buffer, length: UInt32(length), lane: UInt16(lane), channel: channel,
      delivery: delivery)
    let isSession = channel == ChannelLimits.sessionChannel
    count(length, lane)
    if let place = receiveLanes[lane].queued {
      sendState.statistics.stale += 1
      return release(
        isSession ? sessionReady.replace(message, at: place) : ready.replace(message, at: place))
    }
    let place = isSession ? sessionReady.append(message) : ready.append(message)
    if delivery.isSequenced { receiveLanes[lane].queued = place }
  }

  /// Passes the next application message to `body`. Returns `false` if there is none.
  ///
  /// Messages of the channels in `parking` that need credit stay in the `ChannelSet`. Their credit
  /// is not returned, so the peer has to wait.
  package mutating func pollMessage(
    parking: ChannelMask = ChannelMask(),
    _ body: (_ channel: UInt8, _ delivery: Delivery, _ bytes: Span<UInt8>) -> Void
  ) -> Bool {
    guard let message = popReady(parking: parking) else { return false }
    let buffer = sendState.arena[message.buffer]
    body(message.channel, message.delivery, buffer.span.extracting(0..<Int(message.length)))
    if message.delivery.isSequenced { receiveLanes[Int(message.lane)].queued = nil }
    release(message)
    return true
  }

  /// Removes and returns the next message of the session's own channel, or nil if there is none.
  package mutating func pollSessionMessage() -> [UInt8]? {
    guard let message = sessionReady.popFirst() else { return nil }
    defer { releaseControl(message) }
    let buffer = sendState.arena[message.buffer]
    return Array(copying: buffer.span.extracting(0..<Int(message.length)))
  }

  /// Removes and decodes the next message of the session's own channel, without copying its bytes.
  /// Returns nil if there is no message; the packet is nil if this version does not recognize its
  /// action.
  mutating func pollControl() -> Result<ControlPacket?, DecodeError>? {
    guard let message = sessionReady.popFirst() else { return nil }
    defer { releaseControl(message) }
    let buffer = sendState.arena[message.buffer]
    do throws(DecodeError) {
      let bytes = buffer.span.extracting(0..<Int(message.length))
      return .success(try ControlPacket.decode(bytes))
    } catch { return .failure(error) }
  }

  private mutating func releaseControl(_ message: ReadyQueue.Message) {
    if message.delivery.isSequenced { receiveLanes[Int(message.lane)].queued = nil }
    release(message)
  }

  /// Frees the buffer of a message that the application has read, and returns its credit to the
  /// peer.
  private mutating func release(_ message: ReadyQueue.Message) {
    sendState.arena.release(message.buffer)
    if !message.delivery.isReliable {
      unreliableReadyBytes -= Int32(message.length)
      unreliableReadyCount -= 1
    }
    guard message.delivery.needsCredit else { return }
    returnCredit(for: Int(message.length), Int(channelTable[Int(message.channel)]))
  }

  /// Returns credit to the peer for a message of `length` bytes that the application has read.
  /// `index` is the channel's index in `channels`.
  private mutating func returnCredit(for length: Int, _ index: Int) {
    hasReturnedCredit = true
    let isDue = channels[index].credit.consume(length + ChannelLimits.messageCharge)
    if isDue { scheduleCredit(index) }
  }
}
