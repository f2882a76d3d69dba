/// A transmission sequence number: it numbers chunks of data, and wraps at 2^32 (RFC 9260 §1.6).
///
/// Order is that of serial numbers (RFC 1982): of two numbers, the one is later that is less than
/// 2^31 steps ahead.
struct TSN: Hashable, Sendable {
  var value: UInt32

  init(_ value: UInt32) { self.value = value }

  /// The number of steps from `other` to this one, which is negative if this one is earlier.
  @inline(__always)
  func distance(from other: TSN) -> Int {
    Int(Int32(bitPattern: value &- other.value))
  }

  /// Returns whether this number is earlier than `other`.
  @inline(__always)
  func precedes(_ other: TSN) -> Bool { distance(from: other) < 0 }

  /// Returns the number `count` steps later, or earlier if `count` is negative.
  @inline(__always)
  func advanced(by count: Int) -> TSN { TSN(value &+ UInt32(truncatingIfNeeded: count)) }
}
