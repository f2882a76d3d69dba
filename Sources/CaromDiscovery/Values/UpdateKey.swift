import CaromDNS
import CaromTransport

/// A key that permits changes to a zone (TSIG, RFC 8945). The zone's name server knows it by the
/// same name. Neither the description nor an error shows the secret.
public struct UpdateKey: Sendable {
  /// A function that takes a secret and returns the function that computes the HMAC-SHA256 of a
  /// message, 32 bytes, with this secret. `HMACSHA256.authenticator` of CaromCrypto is one.
  public typealias Authenticator =
    @Sendable (
      _ secret: [UInt8]
    ) -> @Sendable (_ message: [UInt8]) -> [UInt8]

  package let key: TransactionKey

  /// Creates a key from the text of a file that `tsig-keygen -a hmac-sha256` has written. Discovery
  /// contains no cryptography of its own, so `authenticator` computes the codes.
  public init(
    parsing text: [UInt8], authenticator: Authenticator
  ) throws(KeyFileError) {
    let file = try KeyFile(parsing: text)
    key = TransactionKey(name: file.name, authenticate: authenticator(file.secret))
  }

  /// Reads a key from a file that `tsig-keygen -a hmac-sha256` has written. The file should be
  /// readable by this account alone.
  public init(
    contentsOf path: String, authenticator: Authenticator
  ) throws(KeyFileError) {
    guard let text = SystemFile.content(of: path, limit: KeyFile.limit + 1) else {
      throw .unreadable
    }
    try self.init(parsing: text, authenticator: authenticator)
  }

  /// The name of the key.
  public var name: String { key.name.description }
}

extension UpdateKey: CustomStringConvertible, CustomReflectable {
  /// The name of the key. The secret is never shown.
  public var description: String { key.description }
  /// A mirror without children.
  public var customMirror: Mirror { Mirror(self, children: []) }
}
