import CaromCore

/// A single-value decoding container over a CBOR item.
struct SingleValueDecoding: SingleValueDecodingContainer {
  let item: CBORReader

  var codingPath: [any CodingKey] { [] }

  func decodeNil() -> Bool { item.isNull }
  func decode(_ type: Bool.Type) throws -> Bool {
    try item.value { reader throws(DecodeError) in try reader.bool() }
  }
  func decode(_ type: String.Type) throws -> String {
    try item.value { reader throws(DecodeError) in try reader.text() }
  }
  func decode(_ type: Double.Type) throws -> Double {
    try item.value { reader throws(DecodeError) in try reader.double() }
  }
  func decode(_ type: Float.Type) throws -> Float {
    try item.value { reader throws(DecodeError) in try reader.float() }
  }
  func decode(_ type: Int.Type) throws -> Int {
    try item.value { reader throws(DecodeError) in try reader.integer() }
  }
  func decode(_ type: Int8.Type) throws -> Int8 {
    try item.value { reader throws(DecodeError) in try reader.integer() }
  }
  func decode(_ type: Int16.Type) throws -> Int16 {
    try item.value { reader throws(DecodeError) in try reader.integer() }
  }
  func decode(_ type: Int32.Type) throws -> Int32 {
    try item.value { reader throws(DecodeError) in try reader.integer() }
  }
  func decode(_ type: Int64.Type) throws -> Int64 {
    try item.value { reader throws(DecodeError) in try reader.integer() }
  }
  func decode(_ type: UInt.Type) throws -> UInt {
    try item.value { reader throws(DecodeError) in try reader.integer() }
  }
  func decode(_ type: UInt8.Type) throws -> UInt8 {
    try item.value { reader throws(DecodeError) in try reader.integer() }
  }
  func decode(_ type: UInt16.Type) throws -> UInt16 {
    try item.value { reader throws(DecodeError) in try reader.integer() }
  }
  func decode(_ type: UInt32.Type) throws -> UInt32 {
    try item.value { reader throws(DecodeError) in try reader.integer() }
  }
  func decode(_ type: UInt64.Type) throws -> UInt64 {
    try item.value { reader throws(DecodeError) in try reader.integer() }
  }

  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try item.decode(type) }
}
