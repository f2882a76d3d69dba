import CaromCore

@testable import CaromProtocol

/// What a frame says, as a value of its own.
enum SaidFrame: Hashable {
  case message(Delivery, UInt8, UInt64, [UInt8])
  case piece(Delivery, UInt8, UInt64, of: Int, at: Int, [UInt8])
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
        self = .piece(
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

  /// Writes the frame; `false` if it found no room.
  func write(to writer: inout FrameWriter) -> Bool {
    switch self {
    case .message(let delivery, let channel, let number, let payload):
      return writer.appendMessage(delivery, channel: channel, number: number, payload.span)
    case .piece(let delivery, let channel, let number, let total, let offset, let payload):
      return writer.appendFragment(
        delivery, channel: channel, number: number, total: total, offset: offset, payload.span)
    case .ping: return writer.appendPing()
    case .acknowledgement(let told, let ackDelay):
      var ranges = AcknowledgedRanges()
      for range in told { ranges.append(range) }
      return writer.appendAcknowledgement(ranges, ackDelay: ackDelay) == told.count
    case .credit(let channel, let limit): return writer.appendCredit(channel: channel, limit: limit)
    case .padding(let count):
      guard writer.room >= count else { return false }
      writer.appendPadding(to: writer.count + count)
      return true
    }
  }
}

/// The frames in a packet's bytes behind its header.
func decodeFrames(_ bytes: [UInt8]) throws(DecodeError) -> [SaidFrame] {
  try decodeFrames(PacketReader(bytes.span))
}

func decodeFrames(_ rest: PacketReader) throws(DecodeError) -> [SaidFrame] {
  var reader = FrameReader(rest)
  var ranges = AcknowledgedRanges()
  var said: [SaidFrame] = []
  while let frame = try reader.next(ranges: &ranges) {
    said.append(SaidFrame(frame, ranges: ranges))
  }
  return said
}

/// The bytes of frames; `nil` if one found no room.
func encodeFrames(_ frames: [SaidFrame], limit: Int = 1200) -> [UInt8]? {
  var writer = FrameWriter(limit: limit)
  for frame in frames { guard frame.write(to: &writer) else { return nil } }
  return writer.takeBytes()
}

/// What is wrong with a packet's bytes behind its header.
func frameError(_ bytes: [UInt8]) -> DecodeError? {
  do {
    _ = try decodeFrames(bytes)
    return nil
  } catch { return error }
}
