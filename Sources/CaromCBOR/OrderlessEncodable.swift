/// A collection with a random iteration order, such as a set, that must be sorted for a
/// deterministic encoding.
protocol OrderlessEncodable {
  /// Encodes the elements so that they are written in ascending order of their encoded bytes.
  func encodedInOrder(depth: Int) throws -> EncodedValue
}

extension Set: OrderlessEncodable where Element: Encodable {
  func encodedInOrder(depth: Int) throws -> EncodedValue {
    try PacketEncoder.checkDepth(depth, isEmpty: isEmpty)
    return .unordered(try map { try EncodedValue($0, depth: depth + 1) })
  }
}

extension Dictionary: OrderlessEncodable where Key: Encodable, Value: Encodable {
  /// Encodes a dictionary with string or integer keys as a map, and any other dictionary as an
  /// array of alternating keys and values. The standard library decodes both forms.
  func encodedInOrder(depth: Int) throws -> EncodedValue {
    try PacketEncoder.checkDepth(depth, isEmpty: isEmpty)
    let container = EncodedContainer(depth: depth)
    if Key.self is any CodingKeyRepresentable.Type, Key.self != String.self, Key.self != Int.self {
      try encode(to: ValueEncoder(container: container))
      return .container(container)
    }
    if Key.self != String.self, Key.self != Int.self {
      return .pairs(
        try map { key, value in
          (try EncodedValue(key, depth: depth + 1), try EncodedValue(value, depth: depth + 1))
        })
    }
    container.becomeMap()
    for (key, value) in self {
      let encoded = try EncodedValue(value, depth: depth + 1)
      if let integer = key as? Int {
        container.append(encoded, for: .integer(integer))
      } else if let text = key as? String {
        container.append(encoded, for: .text(Array(text.utf8)))
      }
    }
    return .container(container)
  }
}
