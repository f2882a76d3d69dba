/// The limits of a `ChannelSet`: no queue, window or buffer exceeds them.
package enum ChannelLimits {
  /// The channel reserved for the session's own messages; the application's channels are 0 to 63.
  package static let sessionChannel: UInt8 = 64
  /// The number of priorities. Priority 0 is served first.
  package static let priorities = 8

  /// The maximum length of a message, in bytes.
  package static let messageLength = 1 << 20
  /// The maximum length of an unreliable or sequenced message, in bytes. The limit is lower than
  /// `messageLength` because each such channel may buffer one message without credit.
  package static let latestLength = 64 << 10
  /// The number of bytes charged to queue limits and credit for each message in addition to its
  /// length, so that empty messages are not free.
  package static let messageCharge = 64
  /// The maximum number of bytes of reliable messages that may be queued or unacknowledged,
  /// including `messageCharge` bytes for each message.
  package static let sendBytes = 4 << 20
  /// The number of bytes that the session's own channel may queue in addition to `sendBytes`.
  package static let sessionBytes = 64 << 10
  /// The number of bytes to which a full send queue must shrink before a `writable` event is
  /// emitted.
  static let writableBytes = sendBytes / 2
  /// The maximum number of bytes of queued unreliable messages. Beyond this number, the oldest
  /// messages are dropped.
  package static let unreliableSendBytes = 64 << 10
  /// The maximum number of queued unreliable messages. Beyond this number, the oldest messages are
  /// dropped.
  package static let unreliableSendMessages = 1024
  /// The maximum number of unacknowledged messages of one channel and delivery. It is more than a
  /// game sends in a round trip, and small enough that the low 16 bits of a message's number
  /// identify the message.
  package static let outstandingMessages = 4096

  /// The length in bytes above which a message always counts as bulk.
  package static let bulkLength = 16 << 10
  /// The minimum length of a fragment other than the last, in bytes.
  static let fragmentLength = 512
  /// The number of bytes of a packet that are set aside for frame headers and acknowledgements. A
  /// message that is longer than the remainder counts as bulk.
  static let wholeReserve = 64
  /// The number of bytes that a channel of weight 1 may send before the next channel of the same
  /// priority has its turn.
  static let quantum = 1500
  /// The maximum number of channels that one packet skips because their next message does not fit
  /// into it.
  static let misfits = 4
  /// The maximum length of a message that is sent redundantly, in bytes.
  package static let redundantLength = 256
  /// The maximum number of messages that wait for a redundant send.
  package static let redundantMessages = 64
  /// The maximum number of fragmented unreliable messages whose receipts are pending.
  package static let openReceipts = 64
  /// The maximum number of queued events. Beyond this number, new events are dropped and counted.
  package static let events = 16_384

  /// The initial credit of a channel in bytes, including `messageCharge` bytes for each message.
  /// Both sides assume this value.
  package static let window = 256 << 10
  /// The maximum size of a channel's receive window, in bytes.
  package static let grownWindow = 4 << 20
  /// The maximum number of bytes by which the receive windows of a connection may grow in total.
  package static let windowGrowth = 16 << 20
  /// The maximum total length of the reliable messages being reassembled, in bytes. It is twice the
  /// amount that a peer can cause without violating the protocol.
  package static let reassemblyBytes = 8 << 20
  /// The maximum number of separate byte ranges of one message under reassembly.
  package static let reassemblyRanges = 4096
  /// The maximum number of unreliable messages under reassembly. Beyond this number, the oldest
  /// message is discarded.
  package static let unreliableReassemblies = 4
  /// The maximum number of bytes of received unreliable messages that the application has not read.
  /// Beyond this number, new messages are dropped.
  package static let unreliableReceiveBytes = 256 << 10
  /// The maximum number of received unreliable messages that the application has not read. Beyond
  /// this number, new messages are dropped.
  package static let unreliableReceiveMessages = 4096

  /// Returns the maximum length of a message with the given delivery, in bytes.
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
  /// Whether messages with this delivery count against credit. They do if the receiver must buffer
  /// every message until the application reads it.
  package var needsCredit: Bool { keepsAllMessages }
  /// Whether every message is delivered, however many are sent.
  package var keepsAllMessages: Bool { self == .reliableOrdered || self == .reliableUnordered }
}
