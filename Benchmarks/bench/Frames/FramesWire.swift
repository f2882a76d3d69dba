import Carom

/// The message formats of `bench frames`.
enum FramesWire {
  static let application = "bench"
  /// The bytes of the frame and packet headers before a message. On bare streams the same number of
  /// zero bytes stands in their place.
  static let overhead = FrameEncoder.headerLength + Packet.headerLength

  static func peer(_ number: Int) -> PeerInfo {
    PeerInfo(
      id: PeerID(high: 1, low: UInt64(number)), name: "peer \(number)", application: application)
  }

  /// Returns the bytes of a message on a bare stream.
  static func bare(_ message: some PacketCodable) -> [UInt8] {
    var writer = PacketWriter(capacity: 128)
    writer.write(UInt64(0))
    writer.write(UInt32(0))
    message.encode(into: &writer)
    return writer.bytes
  }
}

extension MessageChannel where Message: PacketCodable {
  static var frames: Self { .init(0, .unreliableSequenced) }
  static var inputs: Self { .init(1, .unreliableSequenced) }
}
