import CaromCore

/// An unkeyed decoding container over a CBOR array, or over a byte string, whose elements are its
/// bytes. The bytes can only be decoded as `UInt8`: larger values could take far more memory than
/// the limit on the number of items allows.
struct UnkeyedDecoding: UnkeyedDecodingContainer {
  private var reader: CBORReader
  /// The elements of a byte string; nil for an array.
  private let bytes: ArraySlice<UInt8>?
  private let total: Int
  private(set) var currentIndex = 0

  init(_ item: CBORReader) throws(DecodeError) {
    reader = item
    if item.isByteString {
      let string = try reader.byteString()
      (bytes, total) = (string, string.count)
    } else {
      bytes = nil
      total = try reader.readArrayHead()
    }
  }

  var codingPath: [any CodingKey] { [] }
  var count: Int? { total }
  var isAtEnd: Bool { currentIndex == total }

  /// Returns the position of the next element and advances past it.
  private mutating func next() throws(DecodeError) -> CBORReader {
    guard !isAtEnd else { throw .invalid(what: "array: no more elements") }
    guard bytes == nil else { throw .invalid(what: "byte string: its elements are UInt8") }
    let item = reader
    try reader.skip()
    currentIndex += 1
    return item
  }

  /// Decodes the next element with `decode` and advances past it. If decoding fails, the container
  /// does not advance, so that another type can be tried.
  private mutating func decodeNext<Value>(
    _ decode: (CBORReader) throws -> Value
  ) throws -> Value {
    var rest = self
    let value = try decode(rest.next())
    self = rest
    return value
  }

  private mutating func readNext<Value>(
    _ read: (inout CBORReader) throws(DecodeError) -> Value
  ) throws -> Value {
    try decodeNext { try $0.value(read) }
  }

  mutating func decodeNil() -> Bool {
    guard !isAtEnd, bytes == nil, reader.isNull, (try? next()) != nil else { return false }
    return true
  }
  mutating func decode(_ type: Bool.Type) throws -> Bool {
    try readNext { reader throws(DecodeError) in try reader.bool() }
  }
  mutating func decode(_ type: String.Type) throws -> String {
    try readNext { reader throws(DecodeError) in try reader.text() }
  }
  mutating func decode(_ type: Double.Type) throws -> Double {
    try readNext { reader throws(DecodeError) in try reader.double() }
  }
  mutating func decode(_ type: Float.Type) throws -> Float {
    try readNext { reader throws(DecodeError) in try reader.float() }
  }
  mutating func decode(_ type: Int.Type) throws -> Int {
    try readNext { reader throws(DecodeError) in try reader.integer() }
  }
  mutating func decode(_ type: Int8.Type) throws -> Int8 {
    try readNext { reader throws(DecodeError) in try reader.integer() }
  }
  mutating func decode(_ type: Int16.Type) throws -> Int16 {
    try readNext { reader throws(DecodeError) in try reader.integer() }
  }
  mutating func decode(_ type: Int32.Type) throws -> Int32 {
    try readNext { reader throws(DecodeError) in try reader.integer() }
  }
  mutating func decode(_ type: Int64.Type) throws -> Int64 {
    try readNext { reader throws(DecodeError) in try reader.integer() }
  }
  mutating func decode(_ type: UInt.Type) throws -> UInt {
    try readNext { reader throws(DecodeError) in try reader.integer() }
  }
  mutating func decode(_ type: UInt8.Type) throws -> UInt8 {
    if let bytes, !isAtEnd {
      defer { currentIndex += 1 }
      return bytes[bytes.startIndex + currentIndex]
    }
    return try readNext { reader throws(DecodeError) in try reader.integer() }
  }
  mutating func decode(_ type: UInt16.Type) throws -> UInt16 {
    try readNext { reader throws(DecodeError) in try reader.integer() }
  }
  mutating func decode(_ type: UInt32.Type) throws -> UInt32 {
    try readNext { reader throws(DecodeError) in try reader.integer() }
  }
  mutating func decode(_ type: UInt64.Type) throws -> UInt64 {
    try readNext { reader throws(DecodeError) in try reader.integer() }
  }

  mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    try decodeNext { try $0.decode(type) }
  }

  mutating func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type
  ) throws -> KeyedDecodingContainer<Nested> {
    try decodeNext { KeyedDecodingContainer(try KeyedDecoding<Nested>($0)) }
  }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    try decodeNext { try UnkeyedDecoding($0) }
  }

  mutating func superDecoder() throws -> any Decoder { ValueDecoder(item: try next()) }
}
