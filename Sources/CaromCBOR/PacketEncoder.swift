import CaromCore

/// Encodes any `Encodable` value as deterministic CBOR (RFC 8949 §4.2): equal values have equal
/// encodings on every platform, whatever the iteration order of their dictionaries and sets.
///
/// Structs and dictionaries become maps, arrays and sets become arrays, `[UInt8]` and Foundation's
/// `Data` become byte strings and nil becomes null. Map keys are strings, or integers, which are
/// shorter, if the type's `CodingKeys` enum has `Int` raw values.
public struct PacketEncoder: Sendable {
  /// The maximum nesting depth of containers.
  public static let maximumDepth = 32

  /// The maximum number of items (numbers, strings, containers and keys) in an encoding.
  public let itemLimit: Int

  /// Creates an encoder. `itemLimit` is that of the decoder that the encodings are meant for.
  public init(itemLimit: Int = PacketDecoder.defaultItemLimit) {
    precondition(itemLimit > 0, "itemLimit must be at least 1")
    self.itemLimit = itemLimit
  }

  /// Encodes a value. Throws `PacketEncoderError`, or any error thrown by the value's
  /// `encode(to:)`.
  public func encode(_ value: some Encodable) throws -> [UInt8] {
    let encoded = try EncodedValue(value, depth: 0)
    var writer = CBORWriter()
    try encoded.write(into: &writer)
    guard writer.itemCount <= itemLimit else {
      throw PacketEncoderError.tooManyItems(count: writer.itemCount, limit: itemLimit)
    }
    return writer.bytes
  }

  /// Throws `tooDeep` if a container that is not empty is enclosed by `maximumDepth` or more
  /// containers. `depth` is the number of containers that enclose it.
  static func checkDepth(_ depth: Int, isEmpty: Bool) throws {
    guard depth < maximumDepth || isEmpty else {
      throw PacketEncoderError.tooDeep(limit: maximumDepth)
    }
  }
}

/// The errors that a `PacketEncoder` throws.
public enum PacketEncoderError: Error, Hashable, Sendable {
  /// Containers are nested deeper than `limit`, the maximum depth that a decoder accepts.
  case tooDeep(limit: Int)
  /// The value has more items than `limit`, the maximum number that a decoder accepts. A `[UInt8]`
  /// and Foundation's `Data` are one item each.
  case tooManyItems(count: Int, limit: Int)
}

extension PacketEncoderError: CustomStringConvertible {
  /// A one-line message for developers that says what is wrong.
  public var description: String {
    switch self {
    case .tooDeep(let limit): "containers are nested deeper than \(limit)"
    case .tooManyItems(let count, let limit):
      """
      it has \(count) numbers, strings and containers, and a decoder accepts at most \(limit): \
      split it
      """
    }
  }
}
