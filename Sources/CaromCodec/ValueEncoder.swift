/// Hands out the three kinds of containers; what is encoded lands in one `EncodedContainer`.
/// Coding paths are not kept: errors name the value's own reasons.
struct ValueEncoder: Encoder {
  let container: EncodedContainer

  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    KeyedEncodingContainer(KeyedEncoding(container))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer { UnkeyedEncoding(container) }

  func singleValueContainer() -> any SingleValueEncodingContainer {
    SingleValueEncoding(container: container)
  }
}
