import CaromCore

/// An index of a CBOR map: its keys, and the position of each value.
struct CBORMap {
  /// The map's entries, sorted by key.
  let entries: [(key: CBORKey, value: CBORReader)]

  /// Creates an index of the map at `item`. Throws `invalid` if a key occurs twice.
  init(_ item: CBORReader) throws(DecodeError) {
    var reader = item
    let count = try reader.readMapHead()
    var entries: [(key: CBORKey, value: CBORReader)] = []
    for _ in 0..<count {
      let key = try reader.key()
      entries.append((key, reader))
      try reader.skip()
    }
    if !Self.isAscending(entries) { entries.sort { $0.key < $1.key } }
    guard Self.isAscending(entries) else { throw .invalid(what: "map: duplicate key") }
    self.entries = entries
  }

  private static func isAscending(_ entries: [(key: CBORKey, value: CBORReader)]) -> Bool {
    entries.indices.dropFirst().allSatisfy { entries[$0 - 1].key < entries[$0].key }
  }

  /// Returns the position of a key's value, or nil if the map does not contain the key. A key with
  /// an integer value is looked up by the integer first, then by its string value.
  func item(for key: some CodingKey) -> CBORReader? {
    let first = CBORKey(key)
    if let item = item(first) { return item }
    guard case .integer = first else { return nil }
    return item(.text(Array(key.stringValue.utf8)))
  }

  private func item(_ key: CBORKey) -> CBORReader? {
    var range = 0..<entries.count
    while !range.isEmpty {
      let middle = range.lowerBound + range.count / 2
      if entries[middle].key == key { return entries[middle].value }
      if entries[middle].key < key {
        range = middle + 1..<range.upperBound
      } else {
        range = range.lowerBound..<middle
      }
    }
    return nil
  }
}
