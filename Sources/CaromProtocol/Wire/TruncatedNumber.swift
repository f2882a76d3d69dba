extension UInt64 {
  /// The number nearest to `expected` whose lowest `bits` bits (16, 24 or 32) are `truncated`;
  /// of two that are as near, the larger (RFC 9000, appendix A.3).
  package init(expanding truncated: UInt64, bits: UInt64, near expected: UInt64) {
    let window: UInt64 = 1 << bits
    let candidate = expected & ~(window - 1) | truncated
    if candidate < expected, expected - candidate >= window / 2, candidate <= UInt64.max - window {
      self = candidate + window
    } else if candidate > expected, candidate - expected > window / 2, candidate >= window {
      self = candidate - window
    } else {
      self = candidate
    }
  }
}
