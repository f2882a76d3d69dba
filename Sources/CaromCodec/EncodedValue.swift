/// A value on its way to bytes: what an `Encodable` said of itself.
enum EncodedValue {
  case signed(Int64)
  case unsigned(UInt64)
  case double(Double)
  case bool(Bool)
  case text(String)
  case bytes([UInt8])
  case null
  /// Elements whose own order means nothing: they go in the order of their bytes.
  case unordered([EncodedValue])
  /// Keys that are no texts and no integers, with their values: in the order of the keys' bytes.
  case pairs([(key: EncodedValue, value: EncodedValue)])
  /// May still be added to by the container that it was handed out in.
  case container(EncodedContainer)

  /// Asks the value to encode itself.
  init<Value: Encodable>(_ value: Value, depth: Int) throws {
    if Value.self == String.self, let text = value as? String {
      self = .text(text)
    } else if Value.self == [UInt8].self, let bytes = value as? [UInt8] {
      self = .bytes(bytes)  // shorter than an array of integers
    } else if depth > PacketEncoder.maximumDepth {
      throw PacketEncoderError.tooDeep(limit: PacketEncoder.maximumDepth)
    } else if let orderless = value as? any OrderlessEncodable {
      self = try orderless.encodedInOrder(depth: depth)
    } else {
      let container = EncodedContainer(depth: depth)
      try value.encode(to: ValueEncoder(container: container))
      self = .container(container)
    }
  }

  func write(into writer: inout CBORWriter) {
    switch self {
    case .signed(let value): writer.write(value)
    case .unsigned(let value): writer.writeHead(.unsigned, value)
    case .double(let value): writer.write(value)
    case .bool(let value): writer.writeSimple(value ? 21 : 20)
    case .text(let text): writer.write(text)
    case .bytes(let bytes): writer.write(bytes)
    case .null: writer.writeSimple(22)
    case .unordered(let elements):
      writer.writeHead(.array, UInt64(elements.count))
      for bytes in elements.map(\.encoded).sorted(by: { $0.lexicographicallyPrecedes($1) }) {
        writer.writeRaw(bytes)
      }
    case .pairs(let pairs):
      writer.writeHead(.array, UInt64(2 * pairs.count))
      let encoded = pairs.map { (key: $0.key.encoded, value: $0.value) }
      for pair in encoded.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
        writer.writeRaw(pair.key)
        pair.value.write(into: &writer)
      }
    case .container(let container): container.write(into: &writer)
    }
  }

  private var encoded: [UInt8] {
    var writer = CBORWriter()
    write(into: &writer)
    return writer.bytes
  }
}
