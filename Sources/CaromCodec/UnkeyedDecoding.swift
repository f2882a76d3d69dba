import CaromCore

/// An unkeyed decoding container over a CBOR array.
struct UnkeyedDecoding: UnkeyedDecodingContainer {
  private var reader: CBORReader
  private let total: Int
  private(set) var currentIndex = 0

  init(_ item: CBORReader) throws(DecodeError) {
    reader = item
    total = try reader.readArrayHead()
  }

  var codingPath: [any CodingKey] { [] }
  var count: Int? { total }
  var isAtEnd: Bool { currentIndex == total }

  /// Returns the position of the next element and advances past it.
  private mutating func next() throws(DecodeError) -> CBORReader {
    guard !isAtEnd else { throw .invalid(what: "array: no more elements") }
    let item = reader
    try reader.skip()
    currentIndex += 1
    return item
  }

  mutating func decodeNil() -> Bool {
    guard !isAtEnd, reader.isNull, (try? next()) != nil else { return false }
    return true
  }
  mutating func decode(_ type: Bool.Type) throws -> Bool {
    try next().value { reader throws(DecodeError) in try reader.bool() }
  }
  mutating func decode(_ type: String.Type) throws -> String {
    try next().value { reader throws(DecodeError) in try reader.text() }
  }
  mutating func decode(_ type: Double.Type) throws -> Double {
    try next().value { reader throws(DecodeError) in try reader.double() }
  }
  mutating func decode(_ type: Float.Type) throws -> Float {
    try next().value { reader throws(DecodeError) in try reader.float() }
  }
  mutating func decode(_ type: Int.Type) throws -> Int {
    try next().value { reader throws(DecodeError) in try reader.integer() }
  }
  mutating func decode(_ type: Int8.Type) throws -> Int8 {
    try next().value { reader throws(DecodeError) in try reader.integer() }
  }
  mutating func decode(_ type: Int16.Type) throws -> Int16 {
    try next().value { reader throws(DecodeError) in try reader.integer() }
  }
  mutating func decode(_ type: Int32.Type) throws -> Int32 {
    try next().value { reader throws(DecodeError) in try reader.integer() }
  }
  mutating func decode(_ type: Int64.Type) throws -> Int64 {
    try next().value { reader throws(DecodeError) in try reader.integer() }
  }
  mutating func decode(_ type: UInt.Type) throws -> UInt {
    try next().value { reader throws(DecodeError) in try reader.integer() }
  }
  mutating func decode(_ type: UInt8.Type) throws -> UInt8 {
    try next().value { reader throws(DecodeError) in try reader.integer() }
  }
  mutating func decode(_ type: UInt16.Type) throws -> UInt16 {
    try next().value { reader throws(DecodeError) in try reader.integer() }
  }
  mutating func decode(_ type: UInt32.Type) throws -> UInt32 {
    try next().value { reader throws(DecodeError) in try reader.integer() }
  }
  mutating func decode(_ type: UInt64.Type) throws -> UInt64 {
    try next().value { reader throws(DecodeError) in try reader.integer() }
  }

  /// Decodes the next element. If decoding fails, the container does not advance, so that the
  /// caller can try another type.
  mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    let before = self
    do {
      return try next().decode(type)
    } catch {
      self = before
      throw error
    }
  }

  mutating func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type
  ) throws -> KeyedDecodingContainer<Nested> {
    KeyedDecodingContainer(try KeyedDecoding<Nested>(next()))
  }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    try UnkeyedDecoding(next())
  }

  mutating func superDecoder() throws -> any Decoder { ValueDecoder(item: try next()) }
}
