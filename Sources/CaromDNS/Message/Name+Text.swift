extension Name: CustomStringConvertible {
  /// The labels, separated by dots. A dot or backslash within a label is escaped with a backslash
  /// (RFC 6763 §4.3), and bytes that are not valid text are written as `\DDD`.
  package var description: String {
    guard !wire.isEmpty else { return "." }
    return labels.map(Self.escaped).joined(separator: ".")
  }

  private static func escaped(_ label: [UInt8]) -> String {
    let isText = String(validating: label, as: UTF8.self) != nil
    var bytes: [UInt8] = []
    for byte in label {
      switch byte {
      case UInt8(ascii: "."), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
      case 0..<0x20, 0x7F: bytes += decimal(byte)
      case 0x80... where !isText: bytes += decimal(byte)
      default: bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func decimal(_ byte: UInt8) -> [UInt8] {
    let zero = UInt8(ascii: "0")
    return [UInt8(ascii: "\\"), zero + byte / 100, zero + byte / 10 % 10, zero + byte % 10]
  }

  /// Creates a name from text in the format that `description` writes. A trailing dot is allowed.
  package init(text: String) throws(NameError) {
    var labels: [[UInt8]] = []
    var label: [UInt8] = []
    var bytes = Array(text.utf8)[...]
    if bytes == [UInt8(ascii: ".")] { bytes = [] }
    while let byte = bytes.popFirst() {
      switch byte {
      case UInt8(ascii: "."):
        labels.append(label)
        label = []
      case UInt8(ascii: "\\"): label.append(try Self.unescaped(&bytes))
      default: label.append(byte)
      }
    }
    if !label.isEmpty { labels.append(label) }
    try self.init(labels: labels)
  }

  private static func unescaped(_ bytes: inout ArraySlice<UInt8>) throws(NameError) -> UInt8 {
    guard let first = bytes.first else { throw .badEscape }
    let digits = bytes.prefix(3)
    guard (48...57).contains(first) else {
      bytes = bytes.dropFirst()
      return first
    }
    guard digits.count == 3, digits.allSatisfy({ (48...57).contains($0) }) else { throw .badEscape }
    let value = digits.reduce(0) { $0 * 10 + Int($1) - 48 }
    guard value <= 255 else { throw .badEscape }
    bytes = bytes.dropFirst(3)
    return UInt8(value)
  }
}

extension Name: ExpressibleByStringLiteral {
  /// Creates a name from a literal in the format that `description` writes.
  package init(stringLiteral value: String) {
    guard let name = try? Name(text: value) else {
      preconditionFailure("the literal '\(value)' is not a domain name")
    }
    self = name
  }
}
