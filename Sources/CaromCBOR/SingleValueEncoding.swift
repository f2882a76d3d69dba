/// A single-value encoding container that fills one CBOR item.
struct SingleValueEncoding: SingleValueEncodingContainer {
  let container: EncodedContainer

  var codingPath: [any CodingKey] { [] }

  func encodeNil() { container.set(.null) }
  func encode(_ value: Bool) { container.set(.bool(value)) }
  func encode(_ value: String) { container.set(.text(value)) }
  func encode(_ value: Double) { container.set(.double(value)) }
  func encode(_ value: Float) { container.set(.double(Double(value))) }
  func encode(_ value: Int) { container.set(.signed(Int64(value))) }
  func encode(_ value: Int8) { container.set(.signed(Int64(value))) }
  func encode(_ value: Int16) { container.set(.signed(Int64(value))) }
  func encode(_ value: Int32) { container.set(.signed(Int64(value))) }
  func encode(_ value: Int64) { container.set(.signed(Int64(value))) }
  func encode(_ value: UInt) { container.set(.unsigned(UInt64(value))) }
  func encode(_ value: UInt8) { container.set(.unsigned(UInt64(value))) }
  func encode(_ value: UInt16) { container.set(.unsigned(UInt64(value))) }
  func encode(_ value: UInt32) { container.set(.unsigned(UInt64(value))) }
  func encode(_ value: UInt64) { container.set(.unsigned(UInt64(value))) }

  func encode<Value: Encodable>(_ value: Value) throws {
    container.set(try EncodedValue(value, depth: container.depth + 1))
  }
}
