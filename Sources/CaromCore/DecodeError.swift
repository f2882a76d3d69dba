/// What is wrong with bytes that came from a network or a file.
///
/// A decoder throws it and never traps; the receiver drops the message or closes the link.
public enum DecodeError: Error, Hashable, Sendable {
  /// The bytes end before the field does.
  case truncated(wanted: Int, remaining: Int)
  /// A length or a count is over the named limit, found before anything was allocated for it.
  case tooLarge(length: UInt64, limit: UInt64)
  /// Bytes are left over after the last field.
  case trailingBytes(Int)
  /// A field holds a value that its format does not allow; `what` names the field.
  case invalid(what: StaticText)
}

extension DecodeError: CustomStringConvertible {
  /// One line for people, with the figures.
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
