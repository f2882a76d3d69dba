/// A keyed encoding container that fills a CBOR map.
struct KeyedEncoding<Key: CodingKey>: KeyedEncodingContainerProtocol {
  private let container: EncodedContainer

  init(_ container: EncodedContainer) {
    self.container = container
    container.becomeMap()
  }

  var codingPath: [any CodingKey] { [] }

  private func put(_ value: EncodedValue, _ key: some CodingKey) {
    container.append(value, for: CBORKey(key))
  }

  /// Adds an empty nested container under `key` and returns it for the caller to fill.
  private func open(_ key: some CodingKey) -> EncodedContainer {
    let inner = EncodedContainer(depth: container.depth + 1)
    put(.container(inner), key)
    return inner
  }

  func encodeNil(forKey key: Key) { put(.null, key) }
  func encode(_ value: Bool, forKey key: Key) { put(.bool(value), key) }
  func encode(_ value: String, forKey key: Key) { put(.text(value), key) }
  func encode(_ value: Double, forKey key: Key) { put(.double(value), key) }
  func encode(_ value: Float, forKey key: Key) { put(.double(Double(value)), key) }
  func encode(_ value: Int, forKey key: Key) { put(.signed(Int64(value)), key) }
  func encode(_ value: Int8, forKey key: Key) { put(.signed(Int64(value)), key) }
  func encode(_ value: Int16, forKey key: Key) { put(.signed(Int64(value)), key) }
  func encode(_ value: Int32, forKey key: Key) { put(.signed(Int64(value)), key) }
  func encode(_ value: Int64, forKey key: Key) { put(.signed(Int64(value)), key) }
  func encode(_ value: UInt, forKey key: Key) { put(.unsigned(UInt64(value)), key) }
  func encode(_ value: UInt8, forKey key: Key) { put(.unsigned(UInt64(value)), key) }
  func encode(_ value: UInt16, forKey key: Key) { put(.unsigned(UInt64(value)), key) }
  func encode(_ value: UInt32, forKey key: Key) { put(.unsigned(UInt64(value)), key) }
  func encode(_ value: UInt64, forKey key: Key) { put(.unsigned(UInt64(value)), key) }

  func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
    put(try EncodedValue(value, depth: container.depth + 1), key)
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) -> KeyedEncodingContainer<Nested> {
    KeyedEncodingContainer(KeyedEncoding<Nested>(open(key)))
  }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    UnkeyedEncoding(open(key))
  }

  func superEncoder() -> any Encoder { ValueEncoder(container: open(SuperKey())) }

  func superEncoder(forKey key: Key) -> any Encoder { ValueEncoder(container: open(key)) }
}

/// The key under which the standard library encodes a superclass.
struct SuperKey: CodingKey {
  let stringValue = "super"
  var intValue: Int? { nil }

  init() {}
  init?(stringValue: String) { nil }
  init?(intValue: Int) { nil }
}
