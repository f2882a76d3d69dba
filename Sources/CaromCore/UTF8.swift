// Text and its bytes in UTF-8. A page's program contains what these functions need, but not the
// library's code for strings in other encodings, which `String.UTF8View` needs.

extension String {
  /// Creates a string from its bytes in UTF-8, or returns nil if they are not valid.
  package init?(utf8Bytes bytes: [UInt8]) {
    guard let valid = String(validating: bytes, as: UTF8.self) else { return nil }
    self = valid
  }

  /// The string's bytes in UTF-8.
  package var utf8Bytes: [UInt8] { Array(copying: utf8Span.span) }

  /// The number of the string's bytes in UTF-8.
  package var utf8Length: Int { utf8Span.count }
}
