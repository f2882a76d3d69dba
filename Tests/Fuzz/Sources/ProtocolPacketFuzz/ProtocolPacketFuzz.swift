import CaromCore
import CaromProtocol
import FuzzSupport

/// Checks that decoding a datagram of the session never traps, and that encoding the result yields
/// the datagram.
@c(LLVMFuzzerTestOneInput)
public func fuzzOneInput(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = fuzzInput(data, count)
  var writer = FrameWriter(limit: bytes.count)
  do throws(DecodeError) {
    try rewrite(bytes.span, into: &writer)
  } catch {
    return 0
  }
  precondition(writer.bytes == bytes, "every datagram must have only one encoding")
  return 0
}

private func rewrite(
  _ bytes: Span<UInt8>, into writer: inout FrameWriter
) throws(DecodeError) {
  var reader = PacketReader(bytes)
  switch try SessionDatagram(decoding: &reader) {
  case .data(let header):
    header.write(to: &writer)
    check(header)
    try rewriteFrames(reader, into: &writer)
  case .hello(let hello):
    hello.write(to: &writer)
    guard reader.remaining > 0 else { return }
    precondition(!hello.isPadded, "nothing but padding may follow a padded hello")
    let rest = bytes.extracting(reader.offset..<bytes.count)
    // Whatever follows a part of a handshake is encrypted or padding.
    guard DataHeader.begins(with: rest[0]) else { return writer.append(copying: rest) }
    try rewrite(rest, into: &writer)
  case .retry(let retry): retry.write(to: &writer)
  case .refusal(let refusal): refusal.write(to: &writer)
  case .handshake(let part):
    part.write(to: &writer)
    writer.append(copying: bytes.extracting(reader.offset..<bytes.count))
  }
}

private func check(_ header: DataHeader) {
  let mask: UInt64 = 1 << UInt64(8 * header.numberLength) - 1
  for near in [nil, 0, 40_000, 1 << 40] as [UInt64?] {
    precondition(header.expanded(after: near) & mask == UInt64(header.number))
  }
}

private func rewriteFrames(
  _ rest: PacketReader, into writer: inout FrameWriter
) throws(DecodeError) {
  var frames = FrameReader(rest)
  var ranges = AcknowledgedRanges()
  while let frame = try frames.next(ranges: &ranges) {
    let wrote =
      switch frame {
      case .message(let message): rewrite(message, into: &writer)
      case .ping: writer.appendPing()
      case .acknowledgement(let ackDelay):
        writer.appendAcknowledgement(ranges, ackDelay: ackDelay) == ranges.count
      case .credit(let channel, let limit): writer.appendCredit(channel: channel, limit: limit)
      case .padding(let count): pad(count, into: &writer)
      }
    precondition(wrote, "a decoded frame must fit into the space that it came from")
  }
}

private func pad(_ count: Int, into writer: inout FrameWriter) -> Bool {
  writer.appendPadding(to: writer.count + count)
  return true
}

private func rewrite(_ message: borrowing MessageFrame, into writer: inout FrameWriter) -> Bool {
  precondition(message.channel <= 64 && message.total <= MessageFrame.maximumMessage)
  precondition(message.offset + message.payload.count <= message.total)
  guard message.isFragment else {
    return writer.appendMessage(
      message.delivery, channel: message.channel, number: UInt64(message.number), message.payload)
  }
  return writer.appendFragment(
    message.delivery, channel: message.channel, number: UInt64(message.number),
    total: message.total,
    offset: message.offset, message.payload)
}
