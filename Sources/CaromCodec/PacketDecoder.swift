import CaromCore

/// Makes a value of any `Decodable` type from what a `PacketEncoder` wrote, and from other CBOR
/// (RFC 8949) that uses definite lengths and no tags.
///
/// Bytes are hostile until checked: depth and number of items are bounded before any value is made,
/// nothing is allocated for a length that is not there, and only types that the caller names are
/// ever made.
public struct PacketDecoder: Sendable {
  /// How many items a payload may hold unless told otherwise: each costs memory in the program
  /// however short it is on the wire.
  public static let defaultItemLimit = 1 << 18

  /// How many items (integers, texts, containers, keys) a payload may hold.
  public let itemLimit: Int

  /// A decoder with that limit.
  public init(itemLimit: Int = defaultItemLimit) {
    precondition(itemLimit > 0, "one item at least")
    self.itemLimit = itemLimit
  }

  /// The value that the bytes are, to the last of them.
  public func decode<Value: Decodable>(
    _ type: Value.Type, from bytes: Span<UInt8>
  ) throws(DecodeError) -> Value {
    try decode(type, from: Array(copying: bytes))
  }

  /// The value that the bytes are, to the last of them.
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
      throw .invalid(what: "value: its type refuses it")
    }
  }
}
