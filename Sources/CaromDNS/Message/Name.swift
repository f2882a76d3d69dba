/// A domain name: a sequence of labels, compared without regard to ASCII case (RFC 1035 §2.3.3, RFC
/// 6762 §16).
package struct Name: Sendable {
  /// The maximum length of a label, in bytes (RFC 1035 §2.3.4).
  package static let maximumLabelLength = 63
  /// The maximum length of a name, in bytes, including the length bytes of all labels and of the
  /// root (RFC 1035 §2.3.4).
  package static let maximumLength = 255
  /// The root domain, which has no labels.
  package static let root = Name(wire: [])

  /// The labels in wire format, each preceded by its length byte, without the terminating zero.
  package let wire: [UInt8]
  /// The case-folded wire bytes, packed eight to a word, because names are compared and hashed many
  /// times for each message.
  private let words: [UInt64]

  /// Creates a name from bytes that are known to be well formed.
  init(wire: [UInt8]) {
    self.wire = wire
    words = Self.folded(wire)
  }

  /// Creates a name from its labels, the leftmost first.
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

  /// Returns the name with one more label on its left, encoded as UTF-8 in Unicode normalization
  /// form C (RFC 6762 §16).
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

  /// The leftmost label as text, with invalid UTF-8 replaced.
  package var firstLabel: String {
    guard let length = wire.first else { return "" }
    return String(decoding: wire[1...Int(length)], as: UTF8.self)
  }

  /// Returns the labels before `suffix`, joined with dots, or the leftmost label if the name does
  /// not end in `suffix`.
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

  /// The name without its leftmost label. The root's parent is the root.
  package var parent: Name {
    guard let length = wire.first else { return self }
    return Name(wire: Array(wire[(Int(length) + 1)...]))
  }

  /// Returns the byte in lower case if it is an ASCII capital letter, otherwise the byte itself.
  /// Length bytes are less than "A", so every byte of a name in wire format can be folded.
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

  /// Returns whether two names have the same labels, without regard to ASCII case.
  package static func == (a: Name, b: Name) -> Bool {
    a.wire.count == b.wire.count && a.words == b.words
  }

  /// Hashes the case-folded bytes.
  package func hash(into hasher: inout Hasher) {
    for word in words { hasher.combine(word) }
  }
}

/// The reason why text or a list of labels is not a valid domain name.
package enum NameError: Error, Hashable, Sendable {
  /// A label is empty, for example because two dots are adjacent.
  case emptyLabel
  /// A label is too long: it has the given number of bytes, and at most 63 are allowed.
  case labelTooLong(Int)
  /// The name is too long: it has the given number of bytes, and at most 255 are allowed.
  case nameTooLong(Int)
  /// A backslash is followed by nothing, or by a number that is greater than 255.
  case badEscape
}
