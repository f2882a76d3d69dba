/// An unkeyed encoding container that fills a CBOR array.
struct UnkeyedEncoding: UnkeyedEncodingContainer {
  private let container: EncodedContainer

  init(_ container: EncodedContainer) {
    self.container = container
    container.becomeArray()
  }

  var codingPath: [any CodingKey] { [] }
  var count: Int { container.count }

  private func open() -> EncodedContainer {
    let inner = EncodedContainer(depth: container.depth + 1)
    container.append(.container(inner))
    return inner
  }

  func encodeNil() { container.append(.null) }
  func encode(_ value: Bool) { container.append(.bool(value)) }
  func encode(_ value: String) { container.append(.text(value)) }
  func encode(_ value: Double) { container.append(.double(value)) }
  func encode(_ value: Float) { container.append(.double(Double(value))) }
  func encode(_ value: Int) { container.append(.signed(Int64(value))) }
  func encode(_ value: Int8) { container.append(.signed(Int64(value))) }
  func encode(_ value: Int16) { container.append(.signed(Int64(value))) }
  func encode(_ value: Int32) { container.append(.signed(Int64(value))) }
  func encode(_ value: Int64) { container.append(.signed(Int64(value))) }
  func encode(_ value: UInt) { container.append(.unsigned(UInt64(value))) }
  func encode(_ value: UInt8) { container.append(.unsigned(UInt64(value))) }
  func encode(_ value: UInt16) { container.append(.unsigned(UInt64(value))) }
  func encode(_ value: UInt32) { container.append(.unsigned(UInt64(value))) }
  func encode(_ value: UInt64) { container.append(.unsigned(UInt64(value))) }

  /// Encodes bytes. Foundation's `Data` encodes itself with this call alone.
  func encode<Bytes: Sequence>(contentsOf bytes: Bytes) where Bytes.Element == UInt8 {
    container.append(Array(bytes))
  }

  func encode<Value: Encodable>(_ value: Value) throws {
    container.append(try EncodedValue(value, depth: container.depth + 1))
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type
  ) -> KeyedEncodingContainer<Nested> {
    KeyedEncodingContainer(KeyedEncoding<Nested>(open()))
  }

  func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { UnkeyedEncoding(open()) }

  func superEncoder() -> any Encoder { ValueEncoder(container: open()) }
}
