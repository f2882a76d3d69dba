/// Which rule a service type breaks (RFC 6335 §5.1, RFC 6763 §7).
public enum ServiceTypeError: Error, Hashable, Sendable {
  /// It is not two labels with a dot between them.
  case notTwoLabels
  /// The name does not begin with an underscore.
  case missingUnderscore
  /// The second label is neither "_tcp" nor "_udp".
  case unknownTransport
  /// Nothing stands behind the underscore.
  case emptyName
  /// The name has that many characters; at most 15 are allowed.
  case nameTooLong(Int)
  /// A character is no ASCII letter, digit or hyphen.
  case invalidCharacter
  /// There is no letter.
  case noLetter
  /// It begins or ends with a hyphen.
  case edgeHyphen
  /// Two hyphens stand side by side.
  case doubleHyphen
}

extension ServiceTypeError: CustomStringConvertible {
  /// One line for people.
  public var description: String {
    switch self {
    case .notTwoLabels: "a service type has two labels, such as _airhockey._tcp"
    case .missingUnderscore: "a service type begins with an underscore"
    case .unknownTransport: "a service type ends with ._tcp or ._udp"
    case .emptyName: "a service type needs a name behind its underscore"
    case .nameTooLong(let count): "a service name may have 15 characters, this one has \(count)"
    case .invalidCharacter: "a service name has ASCII letters, digits and hyphens only"
    case .noLetter: "a service name needs a letter"
    case .edgeHyphen: "a service name may not begin or end with a hyphen"
    case .doubleHyphen: "a service name may not have two hyphens side by side"
    }
  }
}
