/// Which tokens a host gave out, and which of them were used: each counts once.
package struct TokenBook: Sendable {
  /// So many of the newest count: 2 KiB of memory, and as many guests as no host seats.
  package static let window: UInt64 = 16_384

  private var next: UInt64 = 0
  /// A bit for each token of the window, by its number; none before the first is given out.
  private var used: [UInt64] = []

  package init() {}

  /// The number of a new token; the oldest of the window counts no more.
  package mutating func issue() -> UInt64 {
    if used.isEmpty { used = Array(repeating: 0, count: Int(Self.window / 64)) }
    defer { next += 1 }
    let (word, bit) = Self.place(of: next)
    used[word] &= ~bit
    return next
  }

  /// Uses a token up; `false` where it was used, or is too old, or was never given out.
  package mutating func use(_ serial: UInt64) -> Bool {
    guard serial < next, next - serial <= Self.window else { return false }
    let (word, bit) = Self.place(of: serial)
    guard used[word] & bit == 0 else { return false }
    used[word] |= bit
    return true
  }

  private static func place(of serial: UInt64) -> (word: Int, bit: UInt64) {
    let place = serial % window
    return (Int(place / 64), 1 << (place % 64))
  }
}
