/// An `Encoder` that encodes one value into an `EncodedContainer`. It does not track coding paths.
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
