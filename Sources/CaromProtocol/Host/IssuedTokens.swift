/// The address tokens that a host has issued. Each token is valid once, so the host records which
/// ones have been used.
package struct IssuedTokens: Sendable {
  /// The maximum number of valid tokens, which are the most recently issued ones. A host has far
  /// fewer clients, and the bits that record which tokens were used take 2 KiB of memory.
  package static let window: UInt64 = 16_384

  private var next: UInt64 = 0
  /// One bit for each token of the window, set once the token is used. The array is empty until the
  /// first token is issued.
  private var used: [UInt64] = []

  package init() {}

  /// Returns the serial number of a new token. A token becomes invalid once `window` newer tokens
  /// have been issued.
  package mutating func issue() -> UInt64 {
    if used.isEmpty { used = Array(repeating: 0, count: Int(Self.window / 64)) }
    defer { next += 1 }
    let (word, bit) = Self.position(of: next)
    used[word] &= ~bit
    return next
  }

  /// Marks a token as used. Returns false if the token was already used, is too old, or was never
  /// issued.
  package mutating func use(_ serial: UInt64) -> Bool {
    guard serial < next, next - serial <= Self.window else { return false }
    let (word, bit) = Self.position(of: serial)
    guard used[word] & bit == 0 else { return false }
    used[word] |= bit
    return true
  }

  private static func position(of serial: UInt64) -> (word: Int, bit: UInt64) {
    let index = serial % window
    return (Int(index / 64), 1 << (index % 64))
  }
}
