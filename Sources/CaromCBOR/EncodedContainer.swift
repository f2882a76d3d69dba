/// The contents of an encoding container while an `Encodable` value fills it.
final class EncodedContainer {
  enum Shape {
    case undecided
    case single(EncodedValue)
    case array([EncodedValue])
    /// An array that contains nothing but bytes, which were appended together.
    case bytes([UInt8])
    case map([(key: CBORKey, value: EncodedValue)])
  }

  private var shape = Shape.undecided
  /// The number of containers that enclose this container.
  let depth: Int

  init(depth: Int) { self.depth = depth }

  /// The number of elements, if this is an array; otherwise 0.
  var count: Int {
    switch shape {
    case .array(let elements): elements.count
    case .bytes(let bytes): bytes.count
    case .undecided, .single, .map: 0
    }
  }

  func set(_ value: EncodedValue) { shape = .single(value) }

  func becomeArray() {
    switch shape {
    case .array, .bytes: break
    case .undecided, .single, .map: shape = .array([])
    }
  }

  func becomeMap() {
    if case .map = shape { return }
    shape = .map([])
  }

  /// Appends bytes to an array. If the array contains nothing else, it is written as a byte string.
  func append(_ bytes: [UInt8]) {
    if count == 0 {
      shape = .bytes(bytes)
    } else {
      for byte in bytes { append(.unsigned(UInt64(byte))) }
    }
  }

  func append(_ value: EncodedValue) {
    if case .bytes(let bytes) = shape { shape = .array(bytes.map { .unsigned(UInt64($0)) }) }
    guard case .array(var elements) = shape else { preconditionFailure("not an array") }
    shape = .undecided  // release the second reference, so that `append` does not copy the array
    elements.append(value)
    shape = .array(elements)
  }

  func append(_ value: EncodedValue, for key: CBORKey) {
    guard case .map(var entries) = shape else { preconditionFailure("not a map") }
    shape = .undecided
    entries.append((key, value))
    shape = .map(entries)
  }

  /// Writes the contents as CBOR. A type that never requested a container is written as an empty
  /// map. Throws `tooDeep` if the contents are nested deeper than a decoder accepts.
  func write(into writer: inout CBORWriter) throws {
    switch shape {
    case .undecided: writer.writeHead(.map, 0)
    case .single(let value): try value.write(into: &writer)
    case .bytes(let bytes): writer.write(bytes)
    case .array(let elements):
      try PacketEncoder.checkDepth(depth, isEmpty: elements.isEmpty)
      writer.writeHead(.array, UInt64(elements.count))
      for element in elements { try element.write(into: &writer) }
    case .map(let entries):
      try PacketEncoder.checkDepth(depth, isEmpty: entries.isEmpty)
      try Self.write(entries, into: &writer)
    }
  }

  /// Writes a map's entries, ordered by the keys' encoded bytes (RFC 8949 §4.2.1). Of entries with
  /// equal keys, only the last is written.
  private static func write(
    _ entries: [(key: CBORKey, value: EncodedValue)], into writer: inout CBORWriter
  ) throws {
    let sorted = entries.enumerated().sorted {
      ($0.element.key, $0.offset) < ($1.element.key, $1.offset)
    }.map(\.element)
    let last = sorted.indices.filter { index in
      index + 1 == sorted.count || sorted[index].key != sorted[index + 1].key
    }
    writer.writeHead(.map, UInt64(last.count))
    for index in last {
      sorted[index].key.write(into: &writer)
      try sorted[index].value.write(into: &writer)
    }
  }
}
