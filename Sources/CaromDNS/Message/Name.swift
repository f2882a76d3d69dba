/// A domain name: labels of bytes, compared without ASCII case (RFC 1035 §2.3.3, RFC 6762 §16).
package struct Name: Sendable {
  /// The longest label, bytes (RFC 1035 §2.3.4).
  package static let maximumLabelLength = 63
  /// The longest name, bytes with every length byte and the root's (RFC 1035 §2.3.4).
  package static let maximumLength = 255
  /// The name without labels, ".".
  package static let root = Name(wire: [])

  /// Each label behind its length byte, without the root's zero byte.
  package let wire: [UInt8]
  /// The folded bytes, eight a word: what is compared and hashed, many times a message.
  private let words: [UInt64]

  /// Takes bytes that are known to be well formed.
  init(wire: [UInt8]) {
    self.wire = wire
    words = Self.folded(wire)
  }

  /// The name of these labels, the leftmost first.
  package init(labels: [[UInt8]]) throws(NameError) {
    var wire: [UInt8] = []
    for label in labels {
      guard !label.isEmpty else { throw .emptyLabel }
      guard label.count <= Self.maximumLabelLength else { throw .labelTooLong(label.count) }
      wire.append(UInt8(label.count))
      wire.append(contentsOf: label)
    }
    guard wire.count < Self.maximumLength else { throw .nameTooLong(wire.count + 1) }
    self.init(wire: wire)
  }

  /// This name with one more label on its left: UTF-8 of the composed characters (Unicode's
  /// form C, RFC 6762 §16).
  package func prefixed(by label: String) throws(NameError) -> Name {
    try Name(labels: [Array(label.composed.utf8)] + labels)
  }

  /// The labels, the leftmost first.
  package var labels: [[UInt8]] {
    var labels: [[UInt8]] = []
    var offset = 0
    while offset < wire.count {
      let end = offset + 1 + Int(wire[offset])
      labels.append(Array(wire[offset + 1..<end]))
      offset = end
    }
    return labels
  }

  /// The leftmost label as text; broken UTF-8 is repaired.
  package var firstLabel: String {
    guard let length = wire.first else { return "" }
    return String(decoding: wire[1...Int(length)], as: UTF8.self)
  }

  /// The labels before `suffix`, between dots where they are several; the leftmost label where
  /// the name does not end so.
  func prefix(before suffix: Name) -> String {
    var parts: [String] = []
    var rest = self
    while !rest.wire.isEmpty {
      parts.append(rest.firstLabel)
      rest = rest.parent
      if rest == suffix { return parts.joined(separator: ".") }
    }
    return firstLabel
  }

  /// The name without its leftmost label; the root's is the root.
  package var parent: Name {
    guard let length = wire.first else { return self }
    return Name(wire: Array(wire[(Int(length) + 1)...]))
  }

  /// A byte with A-Z made small. Length bytes are below "A", so whole names can be folded.
  static func folded(_ byte: UInt8) -> UInt8 {
    byte &- 0x41 < 26 ? byte | 0x20 : byte
  }
}

extension Name: Hashable {
  private static func folded(_ wire: [UInt8]) -> [UInt64] {
    var words: [UInt64] = []
    words.reserveCapacity(wire.count / 8 + 1)
    var word: UInt64 = 0
    for (index, byte) in wire.enumerated() {
      if index % 8 == 0, index > 0 {
        words.append(word)
        word = 0
      }
      word = word << 8 | UInt64(folded(byte))
    }
    return words + [word]
  }

  /// Equal where the labels are, ASCII letters in either case.
  package static func == (a: Name, b: Name) -> Bool {
    a.wire.count == b.wire.count && a.words == b.words
  }

  /// Hashes the folded bytes.
  package func hash(into hasher: inout Hasher) {
    for word in words { hasher.combine(word) }
  }
}

/// Why a text or a list of labels is no domain name.
package enum NameError: Error, Hashable, Sendable {
  /// A label without bytes, such as between two dots.
  case emptyLabel
  /// A label of that many bytes; at most 63 are allowed.
  case labelTooLong(Int)
  /// A name of that many bytes; at most 255 are allowed.
  case nameTooLong(Int)
  /// A backslash that is followed by nothing, or by a number over 255.
  case badEscape
}
