/// The error that decoders throw for malformed bytes from a network or a file.
///
/// Decoders never trap. The receiver drops the message or closes the connection.
public enum DecodeError: Error, Hashable, Sendable {
  /// The input ended inside a field of `wanted` bytes, with only `remaining` bytes left.
  case truncated(wanted: Int, remaining: Int)
  /// A length or count exceeds its limit. The check is made before memory is allocated.
  case tooLarge(length: UInt64, limit: UInt64)
  /// The given number of bytes was left over after the last field.
  case trailingBytes(Int)
  /// A field has a value that its format does not allow. `what` names the field.
  case invalid(what: StaticText)
}

extension DecodeError: CustomStringConvertible {
  /// A one-line message, such as "truncated: wanted 4 bytes, 2 are left".
  public var description: String {
    switch self {
    case .truncated(let wanted, let remaining):
      "truncated: wanted \(wanted) bytes, \(remaining) are left"
    case .tooLarge(let length, let limit): "too large: \(length) is over the limit of \(limit)"
    case .trailingBytes(let count): "\(count) bytes are left over"
    case .invalid(let what): "invalid \(what)"
    }
  }
}
