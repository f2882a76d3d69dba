import CaromCore

/// What a channel's peer may send: credit is given as the owner takes messages, and for all of a
/// message that is being put together, so that one longer than the window gets through.
struct ReceiveCredit: Sendable {
  private(set) var window = ChannelLimits.window
  /// What the peer may ever send, as far as it was told or is being told.
  private(set) var limit = UInt64(ChannelLimits.window)
  /// What has come.
  private(set) var received: UInt64 = 0
  /// What the owner has taken of it.
  private(set) var taken: UInt64 = 0
  /// Totals of the messages that are being put together.
  private(set) var reserved: UInt64 = 0
  private var takenAtMark: UInt64 = 0
  private var mark = Instant.zero

  /// Counts what came; beyond the credit it is a violation.
  mutating func receive(_ count: Int) throws(DecodeError) {
    let sum = received + UInt64(count)
    guard sum <= limit else { throw .tooLarge(length: sum, limit: limit) }
    received = sum
  }

  /// Counts what the owner took; whether the peer is to be told.
  mutating func take(_ count: Int) -> Bool {
    taken += UInt64(count)
    return raise(by: window / 4)
  }

  /// A message of this length is being put together; whether the peer is to be told. That is at
  /// once when the message needs it to get through, else it waits for what the owner takes.
  mutating func reserve(_ count: Int) -> Bool {
    reserved += UInt64(count)
    let isNeeded = limit - received < reserved + UInt64(window / 4)
    return raise(by: isNeeded ? 1 : window / 4)
  }

  /// The message is whole or dropped.
  mutating func unreserve(_ count: Int) { reserved -= UInt64(count) }

  private mutating func raise(by least: Int) -> Bool {
    let fair = taken + UInt64(window) + reserved
    guard fair >= limit + UInt64(least) else { return false }
    limit = fair
    return true
  }

  /// Doubles the window when it was used up within two round trips; by how many bytes it grew.
  mutating func grow(roundTrip: Int64, room: Int, at now: Instant) -> Int {
    guard now >= mark.advanced(byNanoseconds: 2 * roundTrip) else { return 0 }
    let used = taken - takenAtMark
    mark = now
    takenAtMark = taken
    guard used >= UInt64(window), window < ChannelLimits.grownWindow, window <= room else {
      return 0
    }
    window *= 2
    return window / 2
  }

  /// Tells of a window that has grown.
  mutating func raiseToWindow() -> Bool { raise(by: 1) }
}
