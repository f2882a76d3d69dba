import CaromCore

/// Encodes frames for a `FrameDecoder`: an eight-byte header with the body's length, then the body.
public struct FrameEncoder: Sendable {
  /// The length of a header, in bytes.
  public static let headerLength = 8

  /// The maximum length of a body, in bytes. Set it to the receiver's limit, so that a body that is
  /// too large fails at the sender.
  public let limit: Int
  /// The byte order of the header.
  public let byteOrder: ByteOrder

  /// Creates an encoder. The receiver must use the same byte order and at least the same limit.
  public init(limit: Int = FrameDecoder.defaultLimit, byteOrder: ByteOrder = .little) {
    precondition(limit >= 0, "limit is a number of bytes and must not be negative")
    self.limit = limit
    self.byteOrder = byteOrder
  }

  /// Returns a frame that contains `body`.
  public func encode(_ body: [UInt8]) throws(FrameError) -> [UInt8] {
    var frame: [UInt8] = []
    try append(body.span, to: &frame)
    return frame
  }

  /// Returns a frame that contains a packet.
  public func encode(_ packet: Packet) throws(FrameError) -> [UInt8] {
    var frame: [UInt8] = []
    try append(packet, to: &frame)
    return frame
  }

  /// Appends a frame that contains `body`, copying the body once.
  public func append(_ body: Span<UInt8>, to buffer: inout [UInt8]) throws(FrameError) {
    try appendHeader(of: body.count, to: &buffer)
    buffer.append(copying: body)
  }

  /// Appends a frame that contains a packet, copying the payload once.
  public func append(_ packet: Packet, to buffer: inout [UInt8]) throws(FrameError) {
    try append(
      type: packet.type, action: packet.action, payload: packet.payload.span, to: &buffer)
  }

  /// Appends a frame that contains a packet with the given type, action and payload.
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

  /// Appends the header of a body of `length` bytes, and reserves capacity for the body.
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
