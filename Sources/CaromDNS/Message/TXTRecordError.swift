/// Why a key or a value cannot stand in a TXT record (RFC 6763 §6).
public enum TXTRecordError: Error, Hashable, Sendable {
  /// A key needs at least one character.
  case emptyKey
  /// A key has a character that is not printable ASCII, or "=".
  case invalidKey(String)
  /// Key, "=" and value take that many bytes; at most 255 are allowed.
  case stringTooLong(Int)
  /// The record would take that many bytes; at most 8,900 are allowed.
  case recordTooLong(Int)
}

extension TXTRecordError: CustomStringConvertible {
  /// One line for people.
  public var description: String {
    switch self {
    case .emptyKey: "a TXT key needs at least one character"
    case .invalidKey(let key): "TXT key '\(key)' may have printable ASCII without '=' only"
    case .stringTooLong(let count): "a TXT string may have 255 bytes, this one has \(count)"
    case .recordTooLong(let count): "a TXT record may have 8900 bytes, this one would have \(count)"
    }
  }
}
