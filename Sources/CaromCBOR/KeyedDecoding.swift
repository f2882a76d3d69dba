import CaromCore

/// A keyed decoding container over a CBOR map.
struct KeyedDecoding<Key: CodingKey>: KeyedDecodingContainerProtocol {
  private let map: CBORMap

  init(_ item: CBORReader) throws(DecodeError) { map = try CBORMap(item) }

  var codingPath: [any CodingKey] { [] }

  var allKeys: [Key] {
    map.entries.compactMap { entry in
      switch entry.key {
      case .integer(let value): Key(intValue: value)
      case .text(let utf8): Key(stringValue: String(decoding: utf8, as: UTF8.self))
      }
    }
  }

  func contains(_ key: Key) -> Bool { map.item(for: key) != nil }

  private func item(_ key: some CodingKey) throws(DecodeError) -> CBORReader {
    guard let item = map.item(for: key) else { throw .invalid(what: "map: missing key") }
    return item
  }

  func decodeNil(forKey key: Key) throws -> Bool { try item(key).isNull }
  func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool {
    try item(key).value { reader throws(DecodeError) in try reader.bool() }
  }
  func decode(_ type: String.Type, forKey key: Key) throws -> String {
    try item(key).value { reader throws(DecodeError) in try reader.text() }
  }
  func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
    try item(key).value { reader throws(DecodeError) in try reader.double() }
  }
  func decode(_ type: Float.Type, forKey key: Key) throws -> Float {
    try item(key).value { reader throws(DecodeError) in try reader.float() }
  }
  func decode(_ type: Int.Type, forKey key: Key) throws -> Int {
    try item(key).value { reader throws(DecodeError) in try reader.integer() }
  }
  func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 {
    try item(key).value { reader throws(DecodeError) in try reader.integer() }
  }
  func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 {
    try item(key).value { reader throws(DecodeError) in try reader.integer() }
  }
  func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 {
    try item(key).value { reader throws(DecodeError) in try reader.integer() }
  }
  func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 {
    try item(key).value { reader throws(DecodeError) in try reader.integer() }
  }
  func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt {
    try item(key).value { reader throws(DecodeError) in try reader.integer() }
  }
  func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 {
    try item(key).value { reader throws(DecodeError) in try reader.integer() }
  }
  func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 {
    try item(key).value { reader throws(DecodeError) in try reader.integer() }
  }
  func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 {
    try item(key).value { reader throws(DecodeError) in try reader.integer() }
  }
  func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 {
    try item(key).value { reader throws(DecodeError) in try reader.integer() }
  }

  func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
    try item(key).decode(type)
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<Nested> {
    KeyedDecodingContainer(try KeyedDecoding<Nested>(item(key)))
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try UnkeyedDecoding(item(key))
  }

  func superDecoder() throws -> any Decoder { ValueDecoder(item: try item(SuperKey())) }

  func superDecoder(forKey key: Key) throws -> any Decoder { ValueDecoder(item: try item(key)) }
}
