import CaromCore

/// A packet's type and action, read while the payload stays where it lies: enough to route by.
public struct PacketHeader: Hashable, Sendable {
  /// What the payload is.
  public let type: UInt16
  /// What is to be done with it.
  public let action: UInt16

  /// Reads the first four bytes of a frame's body and looks at nothing else.
  public init(of body: Span<UInt8>) throws(DecodeError) {
    var reader = PacketReader(body)
    type = try reader.read()
    action = try reader.read()
  }
}
