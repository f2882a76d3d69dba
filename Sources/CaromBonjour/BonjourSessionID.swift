import CaromCore
import CaromCrypto
import CaromDNS

/// The identifier of a `BonjourHelper`'s session, and the service type that belongs to it.
///
/// An identifier that is a valid name of a service type (RFC 6335, section 5.1), such as
/// "typingtogether", is used as it is, in lower case. Every other text gets a name that is made
/// from a hash of it, as GameKit does, so that any identifier works.
public struct BonjourSessionID: Hashable, Sendable, CustomStringConvertible {
  /// The identifier as the application has given it.
  public let text: String
  /// The service type, such as `_typingtogether._udp`.
  public let serviceType: ServiceType

  /// Creates an identifier from any text.
  public init(_ text: String) {
    self.text = text
    if let type = try? ServiceType(name: text, transport: .udp) {
      serviceType = type
    } else {
      serviceType = Self.hashedType(of: text)
    }
  }

  /// Creates an identifier from a text that is a valid name of a service type. Throws the reason if
  /// it is not.
  public init(validating text: String) throws(ServiceTypeError) {
    self.text = text
    serviceType = try ServiceType(name: text, transport: .udp)
  }

  /// "bh-" and 12 characters, which stand for 60 bits of the hash.
  private static func hashedType(of text: String) -> ServiceType {
    let alphabet = Array("abcdefghijklmnopqrstuvwxyz234567")
    let hasher = ContentHasher()
    hasher.update(Array("carom bonjour session".utf8) + Array(text.utf8))
    let bits = hasher.finish().prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    let name = (0..<12).map { alphabet[Int(bits >> (5 * UInt64($0)) & 31)] }
    guard let type = try? ServiceType(name: "bh-" + String(name), transport: .udp) else {
      preconditionFailure("letters and digits are a valid name")
    }
    return type
  }

  /// The identifier.
  public var description: String { text }
}
