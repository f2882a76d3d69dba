/// The reason why a key or a value is not allowed in a TXT record (RFC 6763 §6).
public enum TXTRecordError: Error, Hashable, Sendable {
  /// The key is empty.
  case emptyKey
  /// The key contains "=" or a character that is not printable ASCII.
  case invalidKey(String)
  /// The key, "=" and the value take the given number of bytes; at most 255 are allowed.
  case stringTooLong(Int)
  /// The record would take the given number of bytes; at most 8,900 are allowed.
  case recordTooLong(Int)
}

extension TXTRecordError: CustomStringConvertible {
  /// A one-line message for display.
  public var description: String {
    switch self {
    case .emptyKey: "a TXT key must have at least one character"
    case .invalidKey(let key): "TXT key '\(key)' may contain only printable ASCII other than '='"
    case .stringTooLong(let count): "a TXT string has at most 255 bytes, but this one has \(count)"
    case .recordTooLong(let count):
      "a TXT record has at most 8900 bytes, but this one would have \(count)"
    }
  }
}
