/// The type of a service, such as "_airhockey._tcp" (RFC 6763 §7, RFC 6335 §5.1), stored in lower
/// case.
public struct ServiceType: Hashable, Sendable {
  /// The second label of a type. "_udp" stands for every protocol other than TCP (RFC 6763 §7).
  public enum Transport: String, Hashable, Sendable {
    case tcp = "_tcp"
    case udp = "_udp"
  }

  /// The maximum length of a name, in characters, not counting the underscore (RFC 6335 §5.1).
  public static let maximumNameLength = 15

  /// The service's name without the underscore, such as "airhockey".
  public let name: String
  /// The transport label: "_tcp" or "_udp".
  public let transport: Transport

  /// Creates a type from a bare service name. Throws an error if RFC 6335 forbids the name.
  public init(name: String, transport: Transport) throws(ServiceTypeError) {
    try Self.validate(name)
    self.name = name.lowercased()
    self.transport = transport
  }

  /// Creates a type from text such as "_name._tcp" or "_name._udp". A trailing dot is allowed.
  public init(_ text: String) throws(ServiceTypeError) {
    let trimmed = text.hasSuffix(".") ? text.dropLast() : text[...]
    let parts = trimmed.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 2, let first = parts.first, let last = parts.last else {
      throw .notTwoLabels
    }
    guard first.hasPrefix("_") else { throw .missingUnderscore }
    guard let transport = Transport(rawValue: last.lowercased()) else { throw .unknownTransport }
    try self.init(name: String(first.dropFirst()), transport: transport)
  }

  private static func validate(_ name: String) throws(ServiceTypeError) {
    guard !name.isEmpty else { throw .emptyName }
    let bytes = Array(name.utf8)
    guard bytes.count <= maximumNameLength else { throw .nameTooLong(bytes.count) }
    let hyphen = UInt8(ascii: "-")
    let isLetter = { (byte: UInt8) in (0x61...0x7A).contains(Name.folded(byte)) }
    let isAllowed = { (byte: UInt8) in
      isLetter(byte) || (0x30...0x39).contains(byte) || byte == hyphen
    }
    guard bytes.allSatisfy(isAllowed) else { throw .invalidCharacter }
    guard bytes.contains(where: isLetter) else { throw .noLetter }
    guard bytes.first != hyphen, bytes.last != hyphen else { throw .edgeHyphen }
    guard !zip(bytes, bytes.dropFirst()).contains(where: { $0 == hyphen && $1 == hyphen }) else {
      throw .doubleHyphen
    }
  }

  /// Returns the type's name within `domain`.
  package func name(in domain: Name = "local") -> Name {
    guard
      let name = try? Name(
        labels: [Array("_\(name)".utf8), Array(transport.rawValue.utf8)] + domain.labels)
    else {
      preconditionFailure(
        "the domain \(domain) is too long to hold a service type: use a shorter one")
    }
    return name
  }
}

extension ServiceType: CustomStringConvertible {
  /// The type as text, such as "_airhockey._tcp".
  public var description: String { "_\(name).\(transport.rawValue)" }
}

extension ServiceType: ExpressibleByStringLiteral {
  /// Creates a type from a valid literal. Use `init(_:)` for text from other sources.
  public init(stringLiteral value: String) {
    do throws(ServiceTypeError) {
      self = try ServiceType(value)
    } catch {
      preconditionFailure("the literal '\(value)' is not a service type: \(error)")
    }
  }
}
