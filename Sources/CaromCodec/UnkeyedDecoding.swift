import CaromCore

/// An array that is read, in order.
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

  /// Where the next element is; the reader moves on behind it.
  private mutating func next() throws(DecodeError) -> CBORReader {
    guard !isAtEnd else { throw .invalid(what: "array: no element is left") }
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

  /// An element that its type refuses is still the next one.
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
