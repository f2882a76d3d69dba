/// The encoding of an `Encodable` value before it is written as CBOR.
enum EncodedValue {
  case signed(Int64)
  case unsigned(UInt64)
  case double(Double)
  case bool(Bool)
  case text(String)
  case bytes([UInt8])
  case null
  /// The elements of a set. They are written in ascending order of their encoded bytes.
  case unordered([EncodedValue])
  /// The entries of a dictionary whose keys are neither strings nor integers. They are written in
  /// ascending order of the keys' encoded bytes.
  case pairs([(key: EncodedValue, value: EncodedValue)])
  /// A container, which its `Encodable` value may still be filling.
  case container(EncodedContainer)

  /// Creates the encoding of a value. `depth` is the number of containers that enclose it.
  init<Value: Encodable>(_ value: Value, depth: Int) throws {
    if Value.self == String.self, let text = value as? String {
      self = .text(text)
    } else if Value.self == [UInt8].self, let bytes = value as? [UInt8] {
      self = .bytes(bytes)  // a byte string is shorter than an array of integers
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

  func write(into writer: inout CBORWriter) throws {
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
      let encoded = try elements.map { try $0.encoded() }
      for element in encoded.sorted(by: { $0.bytes.lexicographicallyPrecedes($1.bytes) }) {
        writer.write(element)
      }
    case .pairs(let pairs):
      writer.writeHead(.array, UInt64(2 * pairs.count))
      let encoded = try pairs.map { (key: try $0.key.encoded(), value: $0.value) }
      for pair in encoded.sorted(by: { $0.key.bytes.lexicographicallyPrecedes($1.key.bytes) }) {
        writer.write(pair.key)
        try pair.value.write(into: &writer)
      }
    case .container(let container): try container.write(into: &writer)
    }
  }

  private func encoded() throws -> CBORWriter {
    var writer = CBORWriter()
    try write(into: &writer)
    return writer
  }
}
