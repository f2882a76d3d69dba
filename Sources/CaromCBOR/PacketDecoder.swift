import CaromCore

/// Decodes values of `Decodable` types from CBOR (RFC 8949) with definite lengths and no tags, such
/// as the output of `PacketEncoder`.
///
/// Decoding untrusted bytes is safe: the nesting depth and the number of items are checked before
/// any value is created, and memory for an item of a given length is allocated only if that many
/// bytes are present.
public struct PacketDecoder: Sendable {
  /// The default value of `itemLimit`.
  public static let defaultItemLimit = 1 << 18

  /// The maximum number of items (numbers, strings, containers and keys) in a payload. An item of
  /// one byte on the wire may take far more memory once decoded.
  public let itemLimit: Int

  /// Creates a decoder with the given limit on the number of items.
  public init(itemLimit: Int = defaultItemLimit) {
    precondition(itemLimit > 0, "itemLimit must be at least 1")
    self.itemLimit = itemLimit
  }

  /// Decodes a value that takes up all of `bytes`. Throws if bytes are left over.
  public func decode<Value: Decodable>(
    _ type: Value.Type, from bytes: Span<UInt8>
  ) throws(DecodeError) -> Value {
    try decode(type, from: Array(copying: bytes))
  }

  /// Decodes a value that takes up all of `bytes`. Throws if bytes are left over.
  public func decode<Value: Decodable>(
    _ type: Value.Type, from bytes: [UInt8]
  ) throws(DecodeError) -> Value {
    let reader = CBORReader(bytes)
    try reader.check(maximumDepth: PacketEncoder.maximumDepth, maximumItems: itemLimit)
    do {
      return try reader.decode(type)
    } catch let error as DecodeError {
      throw error
    } catch {
      throw .invalid(what: "value: rejected by its type")
    }
  }
}
