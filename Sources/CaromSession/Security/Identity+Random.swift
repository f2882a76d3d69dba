import CaromCrypto
import CaromTransport

// Declared here because `CaromCrypto` must not use the system's generator.

extension Identity {
  /// Returns a new identity, whose secret key is drawn from the system's generator.
  public static func random() -> Identity {
    var generator = SystemGenerator()
    return Identity(using: &generator)
  }
}

extension JoinCode {
  /// Returns a new code drawn from the system's generator.
  public static func random() -> JoinCode {
    var generator = SystemGenerator()
    return JoinCode(using: &generator)
  }
}

extension BackendKey {
  /// Returns a new key drawn from the system's generator.
  public static func random() -> BackendKey {
    var generator = SystemGenerator()
    return BackendKey(using: &generator)
  }
}
