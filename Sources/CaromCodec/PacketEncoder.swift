import CaromCore

/// Turns any `Encodable` into bytes: CBOR (RFC 8949) in its deterministic form, §4.2, so that one
/// value has one encoding on every machine, whatever the order of its dictionaries and sets.
///
/// Structs and dictionaries are maps, arrays and sets are arrays, `[UInt8]` is a byte string, `nil`
/// is null. Keys are texts; a `CodingKeys` enum with `Int` raw values makes them small integers.
public struct PacketEncoder: Sendable {
  /// How deep containers may stand in each other.
  public static let maximumDepth = 32

  /// There is nothing to set.
  public init() {}

  /// The value's bytes. Throws `PacketEncoderError`, or what the value's `encode(to:)` throws.
  public func encode(_ value: some Encodable) throws -> [UInt8] {
    let encoded = try EncodedValue(value, depth: 0)
    var writer = CBORWriter()
    encoded.write(into: &writer)
    return writer.bytes
  }
}
