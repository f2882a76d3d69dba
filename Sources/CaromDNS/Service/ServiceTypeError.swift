/// The reason why text is not a valid service type (RFC 6335 §5.1, RFC 6763 §7).
public enum ServiceTypeError: Error, Hashable, Sendable {
  /// The text does not consist of two labels separated by a dot.
  case notTwoLabels
  /// The first label does not begin with an underscore.
  case missingUnderscore
  /// The second label is neither "_tcp" nor "_udp".
  case unknownTransport
  /// No name follows the underscore.
  case emptyName
  /// The name is too long: it has the given number of characters, and at most 15 are allowed.
  case nameTooLong(Int)
  /// The name contains a character that is not an ASCII letter, digit or hyphen.
  case invalidCharacter
  /// The name contains no letter.
  case noLetter
  /// The name begins or ends with a hyphen.
  case edgeHyphen
  /// The name contains two adjacent hyphens.
  case doubleHyphen
}

extension ServiceTypeError: CustomStringConvertible {
  /// A one-line message for display.
  public var description: String {
    switch self {
    case .notTwoLabels: "a service type must have two labels, such as _airhockey._tcp"
    case .missingUnderscore: "a service type must begin with an underscore"
    case .unknownTransport: "a service type must end with ._tcp or ._udp"
    case .emptyName: "a service type needs a name after its underscore"
    case .nameTooLong(let count):
      "a service name has at most 15 characters, but this one has \(count)"
    case .invalidCharacter: "a service name may contain only ASCII letters, digits and hyphens"
    case .noLetter: "a service name must contain a letter"
    case .edgeHyphen: "a service name may not begin or end with a hyphen"
    case .doubleHyphen: "a service name may not contain two adjacent hyphens"
    }
  }
}
