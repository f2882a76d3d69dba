import CaromCore

/// Puts bodies into frames: eight bytes of length, the header not counted, then the body.
public struct FrameEncoder: Sendable {
  /// How many bytes a header takes.
  public static let headerLength = 8

  /// The largest body allowed, bytes: the receiver's limit, so that the mistake shows here.
  public let limit: Int
  /// The order of the header's bytes.
  public let byteOrder: ByteOrder

  /// An encoder for a receiver with the same limit and byte order.
  public init(limit: Int = FrameDecoder.defaultLimit, byteOrder: ByteOrder = .little) {
    precondition(limit >= 0, "a limit is a count of bytes, 0 or more")
    self.limit = limit
    self.byteOrder = byteOrder
  }

  /// The frame of `body`, header and body in one buffer.
  public func encode(_ body: [UInt8]) throws(FrameError) -> [UInt8] {
    var frame: [UInt8] = []
    try append(body.span, to: &frame)
    return frame
  }

  /// The frame of a packet, in one buffer.
  public func encode(_ packet: Packet) throws(FrameError) -> [UInt8] {
    var frame: [UInt8] = []
    try append(packet, to: &frame)
    return frame
  }

  /// Appends the frame of `body`, which is copied once.
  public func append(_ body: Span<UInt8>, to buffer: inout [UInt8]) throws(FrameError) {
    try appendHeader(of: body.count, to: &buffer)
    buffer.append(copying: body)
  }

  /// Appends the frame of a packet, whose payload is copied once.
  public func append(_ packet: Packet, to buffer: inout [UInt8]) throws(FrameError) {
    try append(
      type: packet.type, action: packet.action, payload: packet.payload.span, to: &buffer)
  }

  /// Appends the frame of a packet of these parts.
  func append(
    type: UInt16, action: UInt16, payload: Span<UInt8>, to buffer: inout [UInt8]
  ) throws(FrameError) {
    try appendHeader(of: Packet.headerLength + payload.count, to: &buffer)
    buffer.append(addingCapacity: Packet.headerLength) { output in
      output.append(UInt8(truncatingIfNeeded: type))
      output.append(UInt8(truncatingIfNeeded: type >> 8))
      output.append(UInt8(truncatingIfNeeded: action))
      output.append(UInt8(truncatingIfNeeded: action >> 8))
    }
    buffer.append(copying: payload)
  }

  /// Appends a header and makes room for the body that is to follow.
  private func appendHeader(of length: Int, to buffer: inout [UInt8]) throws(FrameError) {
    guard length <= limit else { throw .frameTooLarge(length: UInt64(length), limit: limit) }
    buffer.makeRoom(for: Self.headerLength + length)
    let value = byteOrder == .little ? UInt64(length) : UInt64(length).byteSwapped
    buffer.append(addingCapacity: Self.headerLength) { output in
      for place in 0..<UInt64(Self.headerLength) {
        output.append(UInt8(truncatingIfNeeded: value >> (8 * place)))
      }
    }
  }
}
