/// Receipts for unreliable messages that were cut: the peer has one when it has all pieces.
struct OpenReceipts: Sendable {
  struct Open: Sendable, BitwiseCopyable {
    var channel: UInt8
    var ticket: UInt64
    var missing: Int
  }

  private var open: [Open] = []

  var count: Int { open.count }

  /// Awaits all bytes of a message; returns one that is given up for it.
  mutating func begin(_ ticket: UInt64, channel: UInt8, length: Int) -> Open? {
    let dropped =
      open.count == ChannelLimits.openReceipts ? open.remove(at: 0) : nil
    open.append(Open(channel: channel, ticket: ticket, missing: length))
    return dropped
  }

  /// Counts a piece; whether it was the last that was missing.
  mutating func acknowledge(_ ticket: UInt64, _ count: Int) -> Bool {
    guard let index = open.firstIndex(where: { $0.ticket == ticket }) else { return false }
    open[index].missing -= count
    guard open[index].missing <= 0 else { return false }
    open.remove(at: index)
    return true
  }

  /// A piece is lost; whether the message was awaited still.
  mutating func lose(_ ticket: UInt64) -> Bool {
    guard let index = open.firstIndex(where: { $0.ticket == ticket }) else { return false }
    open.remove(at: index)
    return true
  }
}
