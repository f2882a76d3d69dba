import CaromCore

/// The receiver's flow-control state for one channel. The peer receives new credit as the
/// application reads messages. Once reassembly of a message has begun, the peer receives credit for
/// all of it in advance, so that a message longer than the window can be received.
struct ReceiveCredit: Sendable {
  private(set) var window = ChannelLimits.window
  /// The total number of bytes that the peer may send, including `messageCharge` bytes for each
  /// message. The peer has received this limit or will receive it in the next credit frame.
  private(set) var limit = UInt64(ChannelLimits.window)
  /// The total number of bytes received, including `messageCharge` bytes for each message.
  private(set) var received: UInt64 = 0
  /// The total number of bytes that the application has read, including `messageCharge` bytes for
  /// each message.
  private(set) var consumed: UInt64 = 0
  /// The total length of the messages being reassembled, in bytes.
  private(set) var reserved: UInt64 = 0
  /// The value of `consumed` when `grow` last began to measure how fast the application reads.
  private var consumedAtMark: UInt64 = 0
  private var mark = Instant.zero

  /// Whether the application has read bytes since `grow` last began to measure.
  var isMeasured: Bool { consumed != consumedAtMark }

  /// Counts received bytes. Throws if the peer has exceeded its credit, which violates the
  /// protocol.
  mutating func receive(_ count: Int) throws(DecodeError) {
    let sum = received + UInt64(count)
    guard sum <= limit else { throw .tooLarge(length: sum, limit: limit) }
    received = sum
  }

  /// Counts bytes that the application has read. Returns whether a new limit must be sent to the
  /// peer.
  mutating func consume(_ count: Int) -> Bool {
    consumed += UInt64(count)
    return raise(by: window / 4)
  }

  /// Undoes `consume` for a message that the application has not read after all. The peer keeps the
  /// limit that it may have received.
  mutating func takeBack(_ count: Int) {
    consumed -= UInt64(count)
    consumedAtMark = min(consumedAtMark, consumed)
  }

  /// Reserves credit for a message of `count` bytes whose reassembly begins. Returns whether a new
  /// limit must be sent now, because the current limit is too low for the whole message. If not,
  /// the limit is raised later, as the application reads.
  mutating func reserve(_ count: Int) -> Bool {
    reserved += UInt64(count)
    let isNeeded = limit - received < reserved + UInt64(window / 4)
    return raise(by: isNeeded ? 1 : window / 4)
  }

  /// Releases the reservation of a message whose reassembly has ended.
  mutating func unreserve(_ count: Int) { reserved -= UInt64(count) }

  private mutating func raise(by least: Int) -> Bool {
    let fair = consumed + UInt64(window) + reserved
    guard fair >= limit + UInt64(least) else { return false }
    limit = fair
    return true
  }

  /// Doubles the window if the application has read a whole window of bytes within two round trips
  /// and the window would grow by at most `room` bytes. Returns the number of bytes by which the
  /// window grew, or 0. `roundTrip` is in nanoseconds.
  mutating func grow(roundTrip: Int64, room: Int, at now: Instant) -> Int {
    guard now >= mark.advanced(byNanoseconds: 2 * roundTrip) else { return 0 }
    let used = consumed - consumedAtMark
    mark = now
    consumedAtMark = consumed
    guard used >= UInt64(window), window < ChannelLimits.grownWindow, window <= room else {
      return 0
    }
    window *= 2
    return window / 2
  }

  /// Raises the limit after the window has grown. Returns whether the new limit must be sent to the
  /// peer.
  mutating func raiseToWindow() -> Bool { raise(by: 1) }
}
