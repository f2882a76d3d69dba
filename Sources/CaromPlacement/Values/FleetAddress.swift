import CaromCore
import CaromCrypto

/// Where the directory of a fleet is: a Redis server, and the name of the fleet there.
///
/// The text of an address is `redis://HOST:PORT/NAME`, or `rediss://HOST:PORT/NAME` for a
/// connection with TLS. HOST is a name or an address, an IPv6 address in brackets. PORT may be left
/// out, and is 6379 then. A user and a password may stand before HOST, as `USER:PASSWORD@` or
/// `:PASSWORD@`; in both, any byte may be written as "%" and two hexadecimal digits (RFC 3986 §2.1,
/// §3.2.1). The description shows neither of them.
public struct FleetAddress: Equatable, Sendable {
  /// The port of Redis servers.
  public static let defaultPort: UInt16 = 6_379
  /// The maximum length in bytes of a user's name or of a password.
  public static let credentialLimit = 512

  /// The name or the address of the server, without brackets.
  public let host: String
  /// The port of the server.
  public let port: UInt16
  /// The name of the fleet: 1 to 64 letters, digits, dots, hyphens, underscores and tildes.
  public let fleet: MatchID
  /// Whether programs use TLS. The server's certificate must then be for `host`, and come from an
  /// authority that is trusted.
  public let isEncrypted: Bool
  /// The user as whom programs log in; nil for Redis's default user.
  public let user: String?
  /// The password with which programs log in; nil if they need none.
  package var password: SecretBytes?
  /// The file with the certificates of the authorities that programs trust; nil for those of the
  /// system.
  package var authorities: FleetFile?
  /// The file with the certificate by which the server knows a program, and the file with its key;
  /// nil if there is none.
  package var certificate: FleetFile?
  package var certificateKey: FleetFile?

  /// Reads the text of an address.
  public init(_ text: String) throws(FleetAddressError) {
    isEncrypted = text.hasPrefix("rediss://")
    guard isEncrypted || text.hasPrefix("redis://") else { throw .noAddress }
    let parts = text.dropFirst(isEncrypted ? 9 : 8).split(
      separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, parts[1].utf8.allSatisfy(Self.isNameByte), let fleet = MatchID(parts[1])
    else { throw .invalidName }
    self.fleet = fleet
    let at = parts[0].lastIndex(of: "@")
    let login = at.map { parts[0][..<$0] } ?? ""
    (host, port) = try Self.server(at.map { parts[0][parts[0].index(after: $0)...] } ?? parts[0])
    let colon = login.firstIndex(of: ":") ?? login.endIndex
    let user = try Self.decoded(login[..<colon])
    guard let name = String(validating: user, as: UTF8.self) else { throw .invalidLogin }
    self.user = name.isEmpty ? nil : name
    var secret = try Self.decoded(login[colon...].dropFirst())
    password = secret.isEmpty ? nil : SecretBytes(moving: &secret)
  }

  /// Sets the password with which programs log in; an empty one stands for none. Throws
  /// `invalidLogin` if it has more than 512 bytes.
  public mutating func setPassword(_ text: String) throws(FleetAddressError) {
    var bytes = Array(text.utf8)
    guard bytes.count <= Self.credentialLimit else { throw .invalidLogin }
    password = bytes.isEmpty ? nil : SecretBytes(moving: &bytes)
  }

  /// The letters, digits and signs that need no escape anywhere in an address (RFC 3986 §2.3).
  private static func isNameByte(_ byte: UInt8) -> Bool {
    switch Unicode.Scalar(byte) {
    case "a"..."z", "A"..."Z", "0"..."9", "-", ".", "_", "~": true
    default: false
    }
  }

  private static func server(
    _ text: Substring
  ) throws(FleetAddressError) -> (host: String, port: UInt16) {
    let bracket = text.hasPrefix("[") ? text.firstIndex(of: "]") : nil
    let end =
      bracket.map(text.index(after:)) ?? text.firstIndex(of: ":") ?? text.endIndex
    var host = text[..<end]
    if bracket != nil {
      host = host.dropFirst().dropLast()
      guard IPAddress(host)?.isV6 == true else { throw .invalidHost }
    } else {
      guard 1...253 ~= host.utf8.count, host.utf8.allSatisfy(isNameByte) else { throw .invalidHost }
    }
    guard end < text.endIndex else { return (String(host), defaultPort) }
    guard text[end] == ":", let port = UInt16(text[text.index(after: end)...]), port > 0 else {
      throw .invalidPort
    }
    return (String(host), port)
  }

  /// Replaces each "%" and the two hexadecimal digits after it by the byte that they stand for.
  private static func decoded(_ text: Substring) throws(FleetAddressError) -> [UInt8] {
    var bytes: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      let digits = String(decoding: rest.prefix(2), as: UTF8.self)
      guard digits.utf8.count == 2, digits.first?.isHexDigit == true,
        let value = UInt8(digits, radix: 16)
      else { throw .invalidLogin }
      bytes.append(value)
      rest = rest.dropFirst(2)
    }
    guard bytes.count <= credentialLimit else { throw .invalidLogin }
    return bytes
  }
}

/// The content of a file, and its path for errors.
package struct FleetFile: Equatable, Sendable {
  package let path: String
  package let content: SecretBytes

  package init(path: String, content: SecretBytes) { (self.path, self.content) = (path, content) }
}

extension FleetAddress: CustomStringConvertible, CustomReflectable {
  /// The text of the address without the user and the password.
  public var description: String {
    let server = "\(host.contains(":") ? "[\(host)]" : host):\(port)"
    return "\(isEncrypted ? "rediss" : "redis")://\(server)/\(fleet)"
  }

  /// Shows no properties, so that nothing prints the password.
  public var customMirror: Mirror { Mirror(self, children: []) }
}

/// Why a text is not the address of a fleet's directory. No error contains a part of the text,
/// which may have a password.
public enum FleetAddressError: Error, Hashable, Sendable {
  /// The text does not begin with `redis://` or `rediss://`.
  case noAddress
  /// The name of the fleet is missing or not valid.
  case invalidName
  /// The host is missing or not valid.
  case invalidHost
  /// The port is no number from 1 to 65,535.
  case invalidPort
  /// The user or the password is not encoded as RFC 3986 says, or longer than 512 bytes.
  case invalidLogin
}

extension FleetAddressError: CustomStringConvertible {
  /// A line for users that says what happened and what to do.
  public var description: String {
    switch self {
    case .noAddress:
      "the address of a fleet must be redis://HOST:PORT/NAME, or rediss://HOST:PORT/NAME with TLS"
    case .invalidName:
      "the address of a fleet must be redis://HOST:PORT/NAME, and NAME has 1 to 64 letters, "
        + "digits, '-', '.', '_' and '~'; in a user or a password, write '/' as %2F"
    case .invalidHost: "the address of the fleet has no valid host: use redis://HOST:PORT/NAME"
    case .invalidPort: "the port of the fleet's address must be a number from 1 to 65535"
    case .invalidLogin:
      "the user or the password of the fleet's address is not valid: write '%', '/' and '@' as "
        + "%25, %2F and %40"
    }
  }
}
