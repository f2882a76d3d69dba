/// The pending receipts of fragmented unreliable messages. Such a message counts as delivered once
/// all of its fragments are acknowledged.
struct OpenReceipts: Sendable {
  struct Open: Sendable, BitwiseCopyable {
    var channel: UInt8
    var ticket: UInt64
    /// The number of bytes of the message that are not acknowledged yet.
    var missing: Int
  }

  private var open: [Open] = []

  var count: Int { open.count }

  /// Adds a receipt for a message of `length` bytes. If the table is full, removes and returns the
  /// oldest receipt; otherwise returns nil.
  mutating func begin(_ ticket: UInt64, channel: UInt8, length: Int) -> Open? {
    let dropped =
      open.count == ChannelLimits.openReceipts ? open.remove(at: 0) : nil
    open.append(Open(channel: channel, ticket: ticket, missing: length))
    return dropped
  }

  /// Records that `count` bytes of a message are acknowledged. Returns `true` if all bytes of the
  /// message are now acknowledged.
  mutating func acknowledge(_ ticket: UInt64, _ count: Int) -> Bool {
    guard let index = open.firstIndex(where: { $0.ticket == ticket }) else { return false }
    open[index].missing -= count
    guard open[index].missing <= 0 else { return false }
    open.remove(at: index)
    return true
  }

  /// Removes the receipt of a message that was dropped or of which a fragment was lost. Returns
  /// `false` if the message has no pending receipt.
  mutating func remove(_ ticket: UInt64) -> Bool {
    guard let index = open.firstIndex(where: { $0.ticket == ticket }) else { return false }
    open.remove(at: index)
    return true
  }
}
