import CaromCore

/// The credit that a receiver gives for one file or one direction of a byte stream: the offset up
/// to which the sender may send. It follows the bytes that the receiver has consumed at a distance
/// of one window, which grows while the receiver keeps up, until it holds what arrives in
/// `growthTime`. The sender then never waits for credit on a path whose round trip, together with
/// the time in which lost packets are sent again, is shorter than that.
package struct CreditWindow: Sendable {
  /// The initial size of a window, in bytes. Both sides assume this value.
  package static let initialSize = 256 << 10
  /// The maximum size of a window, in bytes.
  package static let maximumSize = 4 << 20
  /// A window that is consumed in less time than this is too small.
  package static let growthTime = Duration.milliseconds(500)

  /// The offset up to which the sender may send.
  package private(set) var limit: UInt64
  /// The number of bytes that the receiver has consumed, including those before the first byte
  /// that was sent.
  package private(set) var consumed: UInt64
  /// The size of the window, in bytes.
  package private(set) var size = Self.initialSize
  /// The value of `consumed` at which a whole window will have been consumed since `start`.
  private var nextGrowth: UInt64
  /// When the consumption of the present window began; nil before the first byte is consumed.
  private var start: Instant?

  package init(from offset: UInt64 = 0) {
    consumed = offset
    nextGrowth = offset + UInt64(Self.initialSize)
    limit = offset + UInt64(Self.initialSize)
  }

  /// Advances `consumed` to `offset`, when bytes up to `received` have arrived. Returns whether
  /// `limit` has risen enough to be sent.
  ///
  /// The window doubles if it was consumed in less than `growthTime` and most of what has arrived
  /// is consumed, but not by more than `room` bytes; `room` is reduced by the growth.
  package mutating func consume(
    upTo offset: UInt64, received: UInt64, room: inout Int, at now: Instant
  ) -> Bool {
    precondition(offset >= consumed && offset <= received, "consumed bytes are not returned")
    consumed = offset
    let began = start ?? now
    start = began
    if consumed >= nextGrowth {
      let isReaderFast = received - consumed <= UInt64(size / 2)
      if isReaderFast, now - began < Self.growthTime { grow(&room) }
      start = now
      nextGrowth = consumed + UInt64(size)
    }
    let fair = consumed + UInt64(size)
    guard fair >= limit + UInt64(size / 4) else { return false }
    limit = fair
    return true
  }

  private mutating func grow(_ room: inout Int) {
    guard size < Self.maximumSize, size <= room else { return }
    room -= size
    size *= 2
  }

  /// The number of bytes by which the window has grown.
  package var growth: Int { size - Self.initialSize }
}
