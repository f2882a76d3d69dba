import CaromCodec
import CaromCore

/// Writes packets of limited length into storage that is reused. A method whose frame does not fit
/// writes nothing and returns false.
///
/// Call `begin`, write a header, then the frames, and get the packet from `span` or `takeBytes()`.
/// For a stream, `beginStreamFrame` and `endStreamFrame` write several packets one after another.
package struct FrameWriter: Sendable {
  /// The maximum number of bytes that a message frame takes in addition to the message: for its
  /// first byte, channel, number and length.
  package static let maximumMessageOverhead = 7
  /// The maximum number of bytes that a fragment's frame takes in addition to the fragment.
  package static let maximumFragmentOverhead = 14
  /// The length of a frame that contains a pong, in bytes.
  static let pongFrameLength = 23
  /// The maximum length of a credit frame, in bytes.
  package static let maximumCredit = 12

  /// The packets, in the first `count` bytes, followed by stale bytes of earlier packets.
  private var storage: [UInt8] = []
  /// The number of bytes written so far, headers included.
  package private(set) var count = 0
  /// The maximum length of the packet, in bytes.
  package private(set) var limit: Int
  /// The offset in `storage` at which the packet reaches its limit.
  private var end = 0
  private var previous = PreviousMessage()

  /// Creates a writer that has begun a packet of at most `limit` bytes.
  package init(limit: Int = 0) {
    self.limit = 0
    begin(limit: limit)
  }

  /// Begins a packet of at most `limit` bytes.
  @inline(__always) package mutating func begin(limit: Int) {
    count = 0
    beginNext(limit: limit)
  }

  /// Begins a packet of at most `limit` bytes after the bytes that are already written.
  @inline(__always) private mutating func beginNext(limit: Int) {
    self.limit = limit
    end = count + limit
    previous.reset()
    // A header is written as eight bytes, of which those after its end do not count.
    let size = end + ShortBytes.maximumCount
    if limit > 0, storage.count < size { grow(to: size) }
  }

  @inline(never) private mutating func grow(to size: Int) {
    let more = [UInt8](repeating: 0, count: size - storage.count)
    if storage.isEmpty { storage = more } else { storage += more }
  }

  /// Begins a packet of at most `limit` bytes in `storage`, an array that `takeBytes()` returned
  /// earlier.
  package mutating func begin(limit: Int, reusing storage: consuming [UInt8]) {
    self.storage = storage
    begin(limit: limit)
  }

  /// Reserves the last `count` bytes of the packet for a tag.
  mutating func reserve(_ count: Int) {
    limit -= count
    end -= count
  }

  /// Appends the `count` bytes that were reserved. Their values are unspecified.
  mutating func appendReserved(_ count: Int) {
    self.count += count
    limit += count
    end += count
    precondition(self.count <= storage.count, "the bytes must have been reserved")
  }

  /// Passes everything written so far to `body`, which may change it.
  mutating func withBytes(_ body: (inout MutableSpan<UInt8>) -> Void) {
    let length = count
    var all = storage.mutableSpan
    var bytes = all._mutatingExtracting(0..<length)
    body(&bytes)
  }

  /// Returns the packet's bytes and leaves the writer without storage.
  package mutating func takeBytes() -> [UInt8] {
    var taken: [UInt8] = []
    swap(&taken, &storage)
    taken.removeLast(taken.count - count)
    begin(limit: 0)
    return taken
  }

  /// A copy of the packet so far.
  package var bytes: [UInt8] { Array(storage[..<count]) }

  /// The bytes of the packet so far, without copying them.
  package var span: Span<UInt8> {
    @_lifetime(borrow self) get { storage.span.extracting(0..<count) }
  }

  /// The number of bytes that still fit in the packet.
  package var room: Int { end - count }

  /// Appends the bytes of a header, which must fit in the packet.
  @inline(__always)
  mutating func append(_ head: ShortBytes) {
    let start = count
    var output = storage.mutableSpan
    precondition(
      start >= 0 && start <= output.count &- ShortBytes.maximumCount, "a header must fit")
    for index in 0..<ShortBytes.maximumCount {
      output[start &+ index] = UInt8(truncatingIfNeeded: head.bits &>> UInt64(8 &* index))
    }
    count = start &+ head.count
  }

  /// Appends one byte, which must fit in the packet.
  @inline(__always)
  mutating func append(_ byte: UInt8) {
    storage[count] = byte
    count += 1
  }

  /// Appends a field of a header, least significant byte first. The field must fit in the packet.
  mutating func append(integer value: some FixedWidthInteger & UnsignedInteger) {
    for shift in stride(from: 0, to: value.bitWidth, by: 8) {
      append(UInt8(truncatingIfNeeded: value >> shift))
    }
  }

  /// Appends raw bytes, such as a data packet after a hello. The bytes must fit in the packet.
  @inline(__always)
  package mutating func append(copying part: Span<UInt8>) {
    let start = count
    let end = start + part.count
    precondition(end <= storage.count, "the appended bytes must fit into the packet")
    var all = storage.mutableSpan
    var output = all._mutatingExtracting(start..<end)
    // The compiler copies many bytes at a time, since both spans are known to be equally long.
    for index in 0..<part.count { output[index] = part[index] }
    count = end
  }
}

// MARK: Streams

extension FrameWriter {
  /// The length of the head of a stream frame that contains a packet: the length of its body in
  /// eight bytes, then the packet's type and action.
  private static let streamHead = FrameEncoder.headerLength + Packet.headerLength

  /// Begins a packet of at most `limit` bytes after the bytes that are already written, and leaves
  /// room for the head of its stream frame before the packet. Returns the offset at which the
  /// stream frame starts.
  package mutating func beginStreamFrame(limit: Int) -> Int {
    let start = count
    beginNext(limit: Self.streamHead)
    count += Self.streamHead
    beginNext(limit: limit)
    return start
  }

  /// Writes the head of the stream frame that starts at `start`, now that its packet is complete.
  /// Returns where the body of the stream frame starts.
  @discardableResult
  package mutating func endStreamFrame(from start: Int, type: UInt16) -> Int {
    let length = UInt64(count - start - FrameEncoder.headerLength)
    var output = storage.mutableSpan
    for index in 0..<FrameEncoder.headerLength {
      output[start + index] = UInt8(truncatingIfNeeded: length >> UInt64(8 * index))
    }
    let head = start + FrameEncoder.headerLength
    output[head] = UInt8(truncatingIfNeeded: type)
    output[head + 1] = UInt8(truncatingIfNeeded: type >> 8)
    output[head + 2] = 0
    output[head + 3] = 0
    return head
  }

  /// Removes the stream frame that starts at `start`, and everything after it.
  package mutating func removeStreamFrame(from start: Int) {
    count = start
    end = start
  }
}

// MARK: Messages

extension FrameWriter {
  /// Appends a whole message. Returns false if the message does not fit.
  @inline(__always)
  package mutating func appendMessage(
    _ delivery: Delivery, channel: UInt8, number: UInt64, _ payload: Span<UInt8>
  ) -> Bool {
    guard appendMessageHead(delivery, channel: channel, number: number, length: payload.count)
    else { return false }
    append(copying: payload)
    return true
  }

  /// Appends a fragment of a message that is `total` bytes long. Returns false if the fragment does
  /// not fit.
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

  /// Returns how many bytes of a message of `total` bytes, from `offset` on, fit into a fragment in
  /// the remaining space; possibly 0.
  package func fragmentRoom(channel: UInt8, total: Int, offset: Int) -> Int {
    let fixed = channel < FrameByte.channelFollows ? 4 : 5
    let head =
      fixed + VarInt.length(of: UInt64(total)) + VarInt.length(of: UInt64(offset))
    var length = room - head - 1
    while length > 0, head + VarInt.length(of: UInt64(length)) + length > room { length -= 1 }
    return max(0, min(length, total - offset))
  }

  /// Returns the length in bytes of the frame of a whole message of `length` bytes, if the frame is
  /// not a "next message" frame.
  package static func messageSize(_ delivery: Delivery, channel: UInt8, length: Int) -> Int {
    let lead = channel < FrameByte.channelFollows ? 1 : 2
    return lead + (delivery.isNumbered ? 2 : 0) + VarInt.length(of: UInt64(length)) + length
  }

  @inline(__always) private mutating func appendMessageHead(
    _ delivery: Delivery, channel: UInt8, number: UInt64, length: Int
  ) -> Bool {
    precondition(
      channel <= MessageFrame.sessionChannel && length <= MessageFrame.maximumMessage,
      "a channel must be 0 to 64, and a message at most 1 MiB")
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
      "a fragment must have at least one byte and lie within its message")
    var head = ShortBytes()
    head.append(channel: channel, mode: FrameByte.fragmentMode)
    head.append(delivery.rawValue)
    head.append(UInt16(truncatingIfNeeded: number))
    head.append(varInt: UInt64(total))
    var position = ShortBytes()
    position.append(varInt: UInt64(offset))
    position.append(varInt: UInt64(length))
    guard head.count + position.count + length <= room else { return false }
    append(head)
    append(position)
    previous.reset()
    return true
  }
}

// MARK: Other frames

extension FrameWriter {
  /// Appends a ping. Returns false if the ping does not fit.
  package mutating func appendPing() -> Bool {
    guard room >= 1 else { return false }
    append(FrameByte.ping)
    return true
  }

  /// Appends zeros until the packet is `size` bytes long. No frame may follow.
  package mutating func appendPadding(to size: Int) {
    precondition(size <= limit, "the padding must not exceed the packet's limit")
    while count < size { append(0) }
  }

  /// Appends a credit: the total number of bytes of reliable messages that the peer may ever send
  /// on the channel. Returns false if the frame does not fit.
  package mutating func appendCredit(channel: UInt8, limit: UInt64) -> Bool {
    precondition(channel <= MessageFrame.sessionChannel, "a channel must be 0 to 64")
    guard 2 + VarInt.length(of: limit) <= room else { return false }
    var head = ShortBytes()
    head.append(FrameByte.credit)
    head.append(channel)
    append(head)
    append(varInt: limit)
    return true
  }

  /// Appends an acknowledgement of as many `ranges` as fit, newest first, up to `count`. Returns
  /// the number of ranges written, possibly 0.
  package mutating func appendAcknowledgement(
    _ ranges: AcknowledgedRanges, count: Int = AcknowledgedRanges.maximumCount, ackDelay: AckDelay
  ) -> Int {
    let (written, size) = extent(of: ranges, count: min(count, ranges.count))
    guard written > 0, size <= room else { return 0 }
    append(FrameByte.acknowledgement)
    append(varInt: ranges[0].upperBound)
    append(ackDelay.byte)
    append(varInt: UInt64(written - 1))
    for index in 0..<written {
      let range = ranges[index]
      if index > 0 { append(varInt: ranges[index - 1].lowerBound - range.upperBound - 2) }
      append(varInt: range.upperBound - range.lowerBound)
    }
    return written
  }

  /// Returns how many of the first `count` ranges fit, and the length in bytes of the
  /// acknowledgement of those ranges.
  private func extent(of ranges: AcknowledgedRanges, count: Int) -> (count: Int, size: Int) {
    guard count > 0 else { return (0, 0) }
    // The count of further ranges takes one byte, since it is at most 63.
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

  mutating func append(varInt value: UInt64) {
    var rest = value
    while rest >= 0x80 {
      append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    append(UInt8(rest))
  }
}
