import CaromCore

/// Writes a packet's frames into an array that it keeps, as far as a limit: what finds no room is
/// not begun, and the call answers `false`.
///
/// `begin` starts a packet, a header follows, then the frames; `span` or `takeBytes()` is the
/// packet.
package struct FrameWriter: Sendable {
  /// What a message's frame takes beside the message, at most: its first byte, channel, number and
  /// length.
  package static let maximumMessageOverhead = 7
  /// What a fragment's frame takes beside its bytes, at most.
  package static let maximumFragmentOverhead = 14
  /// What a credit takes, at most.
  package static let maximumCredit = 12

  /// Room for a packet; what lies behind `count` is of packets before.
  private var storage: [UInt8] = []
  /// How many bytes were written, the header with them.
  package private(set) var count = 0
  /// How many bytes the packet may have.
  package private(set) var limit: Int
  private var previous = PreviousMessage()

  /// A writer of packets of `limit` bytes at most.
  package init(limit: Int = 0) {
    self.limit = 0
    begin(limit: limit)
  }

  /// Begins a packet of `limit` bytes at most.
  package mutating func begin(limit: Int) {
    self.limit = limit
    count = 0
    previous.forget()
    guard storage.count < limit else { return }
    let more = [UInt8](repeating: 0, count: limit - storage.count)
    if storage.isEmpty { storage = more } else { storage += more }
  }

  /// Begins a packet in the storage of an array that was taken before.
  package mutating func begin(limit: Int, reusing storage: consuming [UInt8]) {
    self.storage = storage
    begin(limit: limit)
  }

  /// The packet, which is the caller's from here on.
  package mutating func takeBytes() -> [UInt8] {
    var taken: [UInt8] = []
    swap(&taken, &storage)
    taken.removeLast(taken.count - count)
    begin(limit: 0)
    return taken
  }

  /// The packet so far, copied.
  package var bytes: [UInt8] { Array(storage[..<count]) }

  /// The packet so far, where it lies.
  package var span: Span<UInt8> {
    @_lifetime(borrow self) get { storage.span.extracting(0..<count) }
  }

  /// How many bytes may still be written.
  package var room: Int { limit - count }

  /// Appends the few bytes of a header; there has to be room.
  @inline(__always)
  mutating func append(_ head: ShortBytes) {
    let start = count
    var output = storage.mutableSpan
    for index in 0..<head.count {
      output[start &+ index] = UInt8(truncatingIfNeeded: head.bits &>> UInt64(8 &* index))
    }
    count = start + head.count
  }

  /// Appends one byte; there has to be room.
  @inline(__always)
  mutating func append(_ byte: UInt8) {
    storage[count] = byte
    count += 1
  }

  /// Appends a field of a header, least significant byte first; there has to be room.
  mutating func append(integer value: some FixedWidthInteger & UnsignedInteger) {
    for shift in stride(from: 0, to: value.bitWidth, by: 8) {
      append(UInt8(truncatingIfNeeded: value >> shift))
    }
  }

  /// Appends bytes as they are, such as a packet behind a hello; there has to be room.
  @inline(__always)
  package mutating func append(copying part: Span<UInt8>) {
    let start = count
    let end = start + part.count
    precondition(end <= storage.count, "what is copied fits")
    var output = storage.mutableSpan
    for index in part.indices { output[start &+ index] = part[index] }
    count = end
  }
}

// MARK: Messages

extension FrameWriter {
  /// Appends a message; `false` if there is no room for all of it.
  package mutating func appendMessage(
    _ delivery: Delivery, channel: UInt8, number: UInt64, _ payload: Span<UInt8>
  ) -> Bool {
    guard appendMessageHead(delivery, channel: channel, number: number, length: payload.count)
    else { return false }
    append(copying: payload)
    return true
  }

  /// Appends a message that lies in two parts, as the end and the beginning of a ring.
  package mutating func appendMessage(
    _ delivery: Delivery, channel: UInt8, number: UInt64, _ first: Span<UInt8>,
    _ second: Span<UInt8>
  ) -> Bool {
    let length = first.count + second.count
    guard appendMessageHead(delivery, channel: channel, number: number, length: length)
    else { return false }
    append(copying: first)
    append(copying: second)
    return true
  }

  /// Appends a piece of a message of `total` bytes; `false` if there is no room for all of it.
  package mutating func appendFragment(
    _ delivery: Delivery, channel: UInt8, number: UInt64, total: Int, offset: Int,
    _ payload: Span<UInt8>
  ) -> Bool {
    guard
      appendFragmentHead(
        delivery, channel: channel, number: number, total: total, offset: offset,
        length: payload.count)
    else { return false }
    append(copying: payload)
    return true
  }

  /// Appends a piece that lies in two parts.
  package mutating func appendFragment(
    _ delivery: Delivery, channel: UInt8, number: UInt64, total: Int, offset: Int,
    _ first: Span<UInt8>, _ second: Span<UInt8>
  ) -> Bool {
    guard
      appendFragmentHead(
        delivery, channel: channel, number: number, total: total, offset: offset,
        length: first.count + second.count)
    else { return false }
    append(copying: first)
    append(copying: second)
    return true
  }

  /// How many bytes of a message's piece find room now; 0 if not even one does.
  package func fragmentRoom(channel: UInt8, total: Int, offset: Int) -> Int {
    let fixed = channel < FrameByte.channelFollows ? 4 : 5
    let head =
      fixed + VarInt.length(of: UInt64(total)) + VarInt.length(of: UInt64(offset))
    var length = room - head - 1
    while length > 0, head + VarInt.length(of: UInt64(length)) + length > room { length -= 1 }
    return max(0, min(length, total - offset))
  }

  /// How many bytes a message takes, if no message before it makes it shorter.
  package static func messageSize(_ delivery: Delivery, channel: UInt8, length: Int) -> Int {
    let lead = channel < FrameByte.channelFollows ? 1 : 2
    return lead + (delivery.isNumbered ? 2 : 0) + VarInt.length(of: UInt64(length)) + length
  }

  private mutating func appendMessageHead(
    _ delivery: Delivery, channel: UInt8, number: UInt64, length: Int
  ) -> Bool {
    precondition(
      channel <= MessageFrame.sessionChannel && length <= MessageFrame.maximumMessage,
      "channels are 0 to 64, messages 1 MiB at most")
    let short = UInt16(truncatingIfNeeded: number)
    var head = ShortBytes()
    if previous.isFollowed(by: delivery, channel, short) {
      head.append(FrameByte.message(FrameByte.nextMode, channel))
    } else {
      head.append(channel: channel, mode: delivery.rawValue)
      if delivery.isNumbered { head.append(short) }
    }
    head.append(varInt: UInt64(length))
    guard head.count + length <= room else { return false }
    append(head)
    previous.set(delivery, channel, short)
    return true
  }

  private mutating func appendFragmentHead(
    _ delivery: Delivery, channel: UInt8, number: UInt64, total: Int, offset: Int, length: Int
  ) -> Bool {
    precondition(
      channel <= MessageFrame.sessionChannel && total <= MessageFrame.maximumMessage
        && length >= 1 && offset >= 0 && offset + length <= total,
      "a piece has a byte at least and lies within its message")
    var head = ShortBytes()
    head.append(channel: channel, mode: FrameByte.fragmentMode)
    head.append(delivery.rawValue)
    head.append(UInt16(truncatingIfNeeded: number))
    head.append(varInt: UInt64(total))
    var place = ShortBytes()
    place.append(varInt: UInt64(offset))
    place.append(varInt: UInt64(length))
    guard head.count + place.count + length <= room else { return false }
    append(head)
    append(place)
    previous.forget()
    return true
  }
}

// MARK: The packets themselves

extension FrameWriter {
  /// Appends a ping.
  package mutating func appendPing() -> Bool {
    guard room >= 1 else { return false }
    append(FrameByte.ping)
    return true
  }

  /// Appends zeros until the packet has `size` bytes; nothing may follow.
  package mutating func appendPadding(to size: Int) {
    precondition(size <= limit, "padding ends within the packet")
    while count < size { append(0) }
  }

  /// Appends how many bytes of reliable messages may ever come on a channel.
  package mutating func appendCredit(channel: UInt8, limit: UInt64) -> Bool {
    precondition(channel <= MessageFrame.sessionChannel, "channels are 0 to 64")
    guard 2 + VarInt.length(of: limit) <= room else { return false }
    var head = ShortBytes()
    head.append(FrameByte.credit)
    head.append(channel)
    append(head)
    append(varInt: limit)
    return true
  }

  /// Appends an acknowledgement of as many of the `ranges`, the newest first, as find room, `count`
  /// at most, and says how many those are; 0 if not even one found room.
  package mutating func appendAcknowledgement(
    _ ranges: AcknowledgedRanges, count: Int = AcknowledgedRanges.maximumCount, ackDelay: AckDelay
  ) -> Int {
    let (told, size) = extent(of: ranges, count: min(count, ranges.count))
    guard told > 0, size <= room else { return 0 }
    append(FrameByte.acknowledgement)
    append(varInt: ranges[0].upperBound)
    append(ackDelay.byte)
    append(varInt: UInt64(told - 1))
    for index in 0..<told {
      let range = ranges[index]
      if index > 0 { append(varInt: ranges[index - 1].lowerBound - range.upperBound - 2) }
      append(varInt: range.upperBound - range.lowerBound)
    }
    return told
  }

  /// How many ranges find room, and how many bytes the acknowledgement then has.
  private func extent(of ranges: AcknowledgedRanges, count: Int) -> (told: Int, size: Int) {
    guard count > 0 else { return (0, 0) }
    // the count of further ranges is one byte, for it is 63 at most
    var size = 3 + VarInt.length(of: ranges[0].upperBound) + Self.length(of: ranges[0])
    for index in 1..<max(1, count) {
      let gap = ranges[index - 1].lowerBound - ranges[index].upperBound - 2
      let more = VarInt.length(of: gap) + Self.length(of: ranges[index])
      guard size + more <= room else { return (index, size) }
      size += more
    }
    return (count, size)
  }

  private static func length(of range: ClosedRange<UInt64>) -> Int {
    VarInt.length(of: range.upperBound - range.lowerBound)
  }

  private mutating func append(varInt value: UInt64) {
    var rest = value
    while rest >= 0x80 {
      append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    append(UInt8(rest))
  }
}
