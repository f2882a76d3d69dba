/// The bounds of a `ChannelSet`. No queue, window or buffer of a `ChannelSet` grows beyond them.
package enum ChannelLimits {
  /// The channel reserved for the session's own messages; the application's channels are 0 to 63.
  package static let sessionChannel: UInt8 = 64
  /// The number of priorities, of which 0 is served first.
  package static let priorities = 8

  /// The longest message, in bytes.
  package static let messageLength = 1 << 20
  /// The longest unreliable or sequenced message, in bytes. It is shorter than `messageLength`
  /// because each such channel may buffer one message without credit.
  package static let latestLength = 64 << 10
  /// The number of bytes that queues and credit add to each message's length to account for its
  /// bookkeeping, so that empty messages are not free.
  package static let messageCharge = 64
  /// The maximum number of bytes of reliable messages that may be queued or unacknowledged, charges
  /// included.
  package static let sendBytes = 4 << 20
  /// The number of bytes that the session's own channel may queue in addition to `sendBytes`.
  package static let sessionBytes = 64 << 10
  /// A send queue that was full reports `writable` once it holds at most this many bytes.
  static let writableBytes = sendBytes / 2
  /// The maximum number of bytes of queued unreliable messages; beyond that the oldest are dropped.
  package static let unreliableSendBytes = 64 << 10
  /// The maximum number of queued unreliable messages; beyond that the oldest are dropped.
  package static let unreliableSendMessages = 1024
  /// The maximum number of unacknowledged messages of one channel and delivery: more small messages
  /// than a game sends in a round trip, and few enough to be told apart by 16-bit numbers.
  package static let outstandingMessages = 4096

  /// A message longer than this many bytes always counts as bulk.
  package static let bulkLength = 16 << 10
  /// The shortest fragment of a message, in bytes. The last fragment may be shorter.
  static let fragmentLength = 512
  /// The number of bytes of a packet that are reserved for frame headers and acknowledgements when
  /// the longest unfragmented message is chosen.
  static let wholeReserve = 64
  /// The number of bytes that a channel of weight 1 may send before the next channel of its
  /// priority.
  static let quantum = 1500
  /// The maximum number of channels that one packet skips because their next message does not fit.
  static let misfits = 4
  /// The longest message that is sent redundantly, in bytes.
  package static let redundantLength = 256
  /// The maximum number of messages that are waiting for a redundant send.
  package static let redundantMessages = 64
  /// The maximum number of fragmented unreliable messages whose receipts are pending.
  package static let openReceipts = 64
  /// The maximum number of queued events; beyond that new events are dropped and counted.
  package static let events = 16_384

  /// The initial credit of a channel, in bytes with charges; both sides assume it.
  package static let window = 256 << 10
  /// The size up to which a channel's receive window grows, in bytes.
  package static let grownWindow = 4 << 20
  /// The number of bytes by which all receive windows of a connection together may grow.
  package static let windowGrowth = 16 << 20
  /// The maximum number of bytes of reliable messages under reassembly, counted by their total
  /// lengths. It is twice what a peer that follows the protocol can cause.
  package static let reassemblyBytes = 8 << 20
  /// The maximum number of separate byte ranges of one message under reassembly.
  package static let reassemblyRanges = 4096
  /// The maximum number of unreliable messages under reassembly; beyond that the oldest is
  /// discarded.
  package static let unreliableReassemblies = 4
  /// The maximum number of bytes of received unreliable messages that the owner has not read;
  /// beyond that new messages are dropped.
  package static let unreliableReceiveBytes = 256 << 10
  /// The maximum number of received unreliable messages that the owner has not read; beyond that
  /// new messages are dropped.
  package static let unreliableReceiveMessages = 4096

  /// Returns the longest message that a delivery allows, in bytes.
  package static func length(of delivery: Delivery) -> Int {
    switch delivery {
    case .reliableOrdered, .reliableUnordered: messageLength
    case .unreliable, .unreliableSequenced, .reliableSequenced: latestLength
    }
  }
}

extension Delivery {
  /// Whether a newer message makes an older message obsolete.
  package var isSequenced: Bool { self == .unreliableSequenced || self == .reliableSequenced }
  /// Whether messages count against credit, because the receiver buffers each of them until its
  /// owner reads it.
  var needsCredit: Bool { self == .reliableOrdered || self == .reliableUnordered }
}
