import CaromCodec
import CaromCore

@testable import CaromProtocol

/// A decoded data packet and the hello before it in the same datagram.
struct DataPacket {
  let hello: Hello?
  let header: DataHeader
  let frames: [FrameValue]

  /// Decodes a datagram. Returns nil if it contains no valid data packet.
  init?(_ datagram: [UInt8]) {
    var reader = PacketReader(datagram.span)
    switch try? SessionDatagram(decoding: &reader) {
    case .hello(let hello):
      guard let header = try? DataHeader(decoding: &reader) else { return nil }
      (self.hello, self.header) = (hello, header)
    case .data(let header): (hello, self.header) = (nil, header)
    default: return nil
    }
    guard let frames = try? decodeFrames(reader) else { return nil }
    self.frames = frames
  }

  /// The bytes of the initiator's packet `number`, which must be less than 65,536.
  static func encode(_ number: UInt16, _ frames: [FrameValue]) -> [UInt8] {
    [0x10, UInt8(truncatingIfNeeded: number), UInt8(number >> 8)] + (encodeFrames(frames) ?? [])
  }

  /// The numbers of the packets that the packet acknowledges, the highest range first.
  var acknowledged: [ClosedRange<UInt64>] {
    if let short = header.acknowledgement {
      let largest = UInt64(short.largest)
      return [max(largest, 63) - 63...largest]
    }
    for case .acknowledgement(let ranges, _) in frames { return ranges }
    return []
  }

  /// The session packets in the packet.
  var controls: [ControlPacket] {
    frames.compactMap { frame in
      guard case .message(_, SessionWire.controlChannel, _, let bytes) = frame else { return nil }
      return try? ControlPacket.decode(bytes.span)
    }
  }

  var hasGoodbye: Bool { controls.contains { if case .goodbye = $0 { true } else { false } } }
}
