import CSodium

/// The library that implements the cryptographic primitives.
enum Sodium {
  /// Whether the library is initialized, which includes choosing the fastest implementations for
  /// this processor. Reading it initializes the library.
  static let isInitialized = sodium_init() >= 0
}
