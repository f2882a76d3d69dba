import CaromCore

/// The credit that a receiver gives for one file or one direction of a byte stream: the offset up
/// to which the sender may send. It follows the bytes that the receiver has consumed at a distance
/// of one window, which grows while the receiver keeps up.
package struct CreditWindow: Sendable {
  /// The initial size of a window, in bytes. Both sides assume this value.
  package static let initialSize = 256 << 10
  /// The maximum size of a window, in bytes.
  package static let maximumSize = 4 << 20

  /// The offset up to which the sender may send.
  package private(set) var limit: UInt64
  /// The number of bytes that the receiver has consumed, including those before the first byte
  /// that was sent.
  package private(set) var consumed: UInt64
  /// The size of the window, in bytes.
  package private(set) var size = Self.initialSize
  private var consumedAtMark: UInt64
  private var mark: Instant?

  package init(from offset: UInt64 = 0) {
    consumed = offset
    consumedAtMark = offset
    limit = offset + UInt64(Self.initialSize)
  }

  /// Advances `consumed` to `offset`. Returns whether `limit` has risen enough to be sent.
  ///
  /// If a whole window was consumed within two round trips, the window doubles, unless it would
  /// grow by more than `room` bytes; `room` is reduced by the growth.
  package mutating func consume(
    upTo offset: UInt64, roundTrip: Duration, room: inout Int, at now: Instant
  ) -> Bool {
    precondition(offset >= consumed, "consumed bytes are not returned")
    consumed = offset
    grow(within: roundTrip * 2, &room, now)
    let fair = consumed + UInt64(size)
    guard fair >= limit + UInt64(size / 4) else { return false }
    limit = fair
    return true
  }

  private mutating func grow(within interval: Duration, _ room: inout Int, _ now: Instant) {
    guard let mark else {
      self.mark = now
      return
    }
    let isFast = consumed - consumedAtMark >= UInt64(size)
    guard isFast || now >= mark + interval else { return }
    if isFast, now < mark + interval, size < Self.maximumSize, size <= room {
      room -= size
      size *= 2
    }
    self.mark = now
    consumedAtMark = consumed
  }

  /// The number of bytes by which the window has grown.
  package var growth: Int { size - Self.initialSize }
}
