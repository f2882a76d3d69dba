/// The credit that a receiver gives for one file or one direction of a byte stream: the offset up
/// to which the sender may send. It follows the bytes that the receiver has consumed at a distance
/// of one window, which grows while the receiver keeps up and the sender uses all of its credit.
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
  /// The value of `consumed` from which on the window may grow again.
  private var nextGrowth: UInt64

  package init(from offset: UInt64 = 0) {
    consumed = offset
    nextGrowth = offset
    limit = offset + UInt64(Self.initialSize)
  }

  /// Advances `consumed` to `offset`, when bytes up to `received` have arrived. Returns whether
  /// `limit` has risen enough to be sent.
  ///
  /// The window doubles if the sender waits for credit although most of what has arrived is
  /// consumed, but at most once for each window of bytes, and not by more than `room` bytes; `room`
  /// is reduced by the growth. No clock is needed for that: whatever delays the credit, be it the
  /// network or a busy computer, is delay that a larger window hides.
  package mutating func consume(
    upTo offset: UInt64, received: UInt64, room: inout Int
  ) -> Bool {
    precondition(offset >= consumed && offset <= received, "consumed bytes are not returned")
    consumed = offset
    growIfNeeded(received, &room)
    let fair = consumed + UInt64(size)
    guard fair >= limit + UInt64(size / 4) else { return false }
    limit = fair
    return true
  }

  private mutating func growIfNeeded(_ received: UInt64, _ room: inout Int) {
    let isSenderWaiting = limit - received < UInt64(Self.initialSize / 4)
    let isReaderFast = received - consumed <= UInt64(size / 2)
    guard isSenderWaiting, isReaderFast, consumed >= nextGrowth, size < Self.maximumSize,
      size <= room
    else { return }
    room -= size
    size *= 2
    nextGrowth = consumed + UInt64(size)
  }

  /// The number of bytes by which the window has grown.
  package var growth: Int { size - Self.initialSize }
}
