import CaromCore

@testable import CaromProtocol

/// A copy of a frame with its contents, for comparisons.
enum FrameValue: Hashable {
  case message(Delivery, UInt8, UInt64, [UInt8])
  case fragment(Delivery, UInt8, UInt64, of: Int, at: Int, [UInt8])
  case ping
  case acknowledgement([ClosedRange<UInt64>], AckDelay)
  case credit(UInt8, UInt64)
  case padding(Int)

  init(_ frame: borrowing Frame, ranges: AcknowledgedRanges) {
    switch frame {
    case .message(let message):
      let payload = Array(copying: message.payload)
      let number = UInt64(message.number)
      if message.isFragment {
        self = .fragment(
          message.delivery, message.channel, number, of: message.total, at: message.offset, payload)
      } else {
        self = .message(message.delivery, message.channel, number, payload)
      }
    case .ping: self = .ping
    case .acknowledgement(let ackDelay): self = .acknowledgement(Array(ranges), ackDelay)
    case .credit(let channel, let limit): self = .credit(channel, limit)
    case .padding(let count): self = .padding(count)
    }
  }

  /// Writes the frame. Returns false if it does not fit.
  func write(to writer: inout FrameWriter) -> Bool {
    switch self {
    case .message(let delivery, let channel, let number, let payload):
      return writer.appendMessage(delivery, channel: channel, number: number, payload.span)
    case .fragment(let delivery, let channel, let number, let total, let offset, let payload):
      return writer.appendFragment(
        delivery, channel: channel, number: number, total: total, offset: offset, payload.span)
    case .ping: return writer.appendPing()
    case .acknowledgement(let list, let ackDelay):
      var ranges = AcknowledgedRanges()
      for range in list { ranges.append(range) }
      return writer.appendAcknowledgement(ranges, ackDelay: ackDelay) == list.count
    case .credit(let channel, let limit): return writer.appendCredit(channel: channel, limit: limit)
    case .padding(let count):
      guard writer.room >= count else { return false }
      writer.appendPadding(to: writer.count + count)
      return true
    }
  }
}

/// The frames in `bytes`: a packet without its header.
func decodeFrames(_ bytes: [UInt8]) throws(DecodeError) -> [FrameValue] {
  try decodeFrames(PacketReader(bytes.span))
}

func decodeFrames(_ rest: PacketReader) throws(DecodeError) -> [FrameValue] {
  var reader = FrameReader(rest)
  var ranges = AcknowledgedRanges()
  var frames: [FrameValue] = []
  while let frame = try reader.next(ranges: &ranges) {
    frames.append(FrameValue(frame, ranges: ranges))
  }
  return frames
}

/// The encoded frames, or nil if one does not fit.
func encodeFrames(_ frames: [FrameValue], limit: Int = 1200) -> [UInt8]? {
  var writer = FrameWriter(limit: limit)
  for frame in frames { guard frame.write(to: &writer) else { return nil } }
  return writer.takeBytes()
}

/// The error that decoding the frames in `bytes` throws, if any.
func frameError(_ bytes: [UInt8]) -> DecodeError? {
  do {
    _ = try decodeFrames(bytes)
    return nil
  } catch { return error }
}

extension AcknowledgedRanges: Sequence {
  /// Returns an iterator over the ranges, newest first.
  public func makeIterator() -> some IteratorProtocol<ClosedRange<UInt64>> {
    (0..<count).lazy.map { self[$0] }.makeIterator()
  }
}
