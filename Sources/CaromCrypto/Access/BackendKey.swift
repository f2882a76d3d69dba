/// The 32-byte key that a backend shares with its hosts and uses to make connect tokens.
/// `description` does not show the key.
public struct BackendKey: Sendable {
  /// The length of a key in bytes.
  public static let length = XChaChaPoly.keyLength

  let secret: SecretBytes

  init(_ secret: SecretBytes) {
    precondition(secret.count == Self.length, "a backend key has 32 bytes")
    self.secret = secret
  }

  /// Creates a new key. `generator` must be unpredictable, as the system's is.
  public init(using generator: inout some RandomNumberGenerator) {
    self.init(SecretBytes(random: Self.length, using: &generator))
  }

  /// Reads a key from 64 hexadecimal digits in ASCII. Returns nil for anything else.
  public init?(hexadecimal digits: some Collection<UInt8>) {
    guard var bytes = Hexadecimal.bytes(of: digits, count: Self.length) else { return nil }
    self.init(SecretBytes(moving: &bytes))
  }

  /// The key as 64 hexadecimal digits in ASCII, to be stored where nobody else can read it.
  package var hexadecimal: SecretBytes {
    var bytes = secret.reveal()
    var digits = Hexadecimal.digits(of: bytes)
    _ = SecretBytes(moving: &bytes)
    return SecretBytes(moving: &digits)
  }
}

extension BackendKey: Hashable {
  /// Returns whether two keys are equal, in a time that does not depend on where they differ.
  public static func == (a: BackendKey, b: BackendKey) -> Bool { a.secret == b.secret }

  /// Hashes nothing, because a hash would show a part of the key.
  public func hash(into hasher: inout Hasher) {}
}

extension BackendKey: CustomStringConvertible, CustomReflectable {
  /// A string that does not show the key.
  public var description: String { "backend key" }
  /// An empty mirror, so that `dump` does not show the key.
  public var customMirror: Mirror { Mirror(self, children: []) }
}
