/// A `Decoder` for one CBOR item.
struct ValueDecoder: Decoder {
  let item: CBORReader

  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    KeyedDecodingContainer(try KeyedDecoding(item))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer { try UnkeyedDecoding(item) }

  func singleValueContainer() -> any SingleValueDecodingContainer {
    SingleValueDecoding(item: item)
  }
}
