/// What a service speaks: "_airhockey._tcp" (RFC 6763 §7, RFC 6335 §5.1). Stored in lower case.
public struct ServiceType: Hashable, Sendable {
  /// TCP, or anything else (RFC 6763 §7).
  public enum Transport: String, Hashable, Sendable {
    case tcp = "_tcp"
    case udp = "_udp"
  }

  /// The longest name, characters without the underscore (RFC 6335 §5.1).
  public static let maximumNameLength = 15

  /// The service's name without underscore: "airhockey".
  public let name: String
  /// "_tcp" or "_udp".
  public let transport: Transport

  /// The type of a bare service name; throws what RFC 6335 forbids.
  public init(name: String, transport: Transport) throws(ServiceTypeError) {
    try Self.validate(name)
    self.name = name.lowercased()
    self.transport = transport
  }

  /// Reads "_name._tcp" or "_name._udp"; a dot at the end is allowed.
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

  /// The type within `domain`.
  package func name(in domain: Name = "local") -> Name {
    guard
      let name = try? Name(
        labels: [Array("_\(name)".utf8), Array(transport.rawValue.utf8)] + domain.labels)
    else { preconditionFailure("a type of 20 bytes does not fit \(domain)") }
    return name
  }
}

extension ServiceType: CustomStringConvertible {
  /// "_airhockey._tcp"
  public var description: String { "_\(name).\(transport.rawValue)" }
}

extension ServiceType: ExpressibleByStringLiteral {
  /// A type that stands in the program's text; use `init(_:)` for text from elsewhere.
  public init(stringLiteral value: String) {
    do throws(ServiceTypeError) {
      self = try ServiceType(value)
    } catch {
      preconditionFailure("'\(value)': \(error)")
    }
  }
}
