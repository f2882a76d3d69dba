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
