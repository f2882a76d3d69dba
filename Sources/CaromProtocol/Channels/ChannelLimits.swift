/// The bounds of a `ChannelSet`: no queue, window or memory of it grows beyond one of these.
package enum ChannelLimits {
  /// Channels that are the application's: 0 to 63.
  package static let applicationChannels = 64
  /// The session's own channel.
  package static let sessionChannel: UInt8 = 64
  /// Channels in all.
  static let channels = 65
  /// Priorities, of which 0 is served first.
  package static let priorities = 8

  /// The longest message, bytes.
  package static let messageLength = 1 << 20
  /// The longest message where only the newest counts or that may be lost, bytes: each such
  /// channel may hold one without credit.
  package static let latestLength = 64 << 10
  /// What a message counts beside its bytes, about what it costs in memory: empty ones are not
  /// free.
  package static let messageCharge = 64
  /// Bytes of reliable messages, charges included, that wait or are unacknowledged.
  package static let sendBytes = 4 << 20
  /// What the session's own channel may queue beyond `sendBytes`, bytes.
  package static let sessionBytes = 64 << 10
  /// Bytes at which a full queue is told to be writable again.
  static let writableBytes = sendBytes / 2
  /// Bytes of unreliable messages that wait; beyond it the oldest are dropped.
  package static let unreliableSendBytes = 64 << 10
  /// Unreliable messages that wait; beyond it the oldest are dropped.
  package static let unreliableSendMessages = 1024
  /// Messages of one channel and mode that are on their way: a quarter of what 16 bits can tell
  /// apart, and more than a round trip of small ones needs.
  package static let outstandingMessages = 4096

  /// A message longer than this is bulk wherever it goes, bytes.
  package static let bulkLength = 16 << 10
  /// The shortest piece that a message is cut into, unless it is the last, bytes.
  static let pieceLength = 512
  /// What a packet keeps free of a message that goes whole: frame headers and acknowledgements.
  static let wholeReserve = 64
  /// Bytes that a channel may send before the next of its priority.
  static let quantum = 1500
  /// Channels that a packet passes over because their next message does not fit.
  static let misfits = 4
  /// The longest message that rides along again, bytes.
  package static let riderLength = 256
  /// Messages that may ride along at once.
  package static let riders = 64
  /// Receipts of cut unreliable messages that are awaited at once.
  package static let openReceipts = 64
  /// Events that wait for the owner; beyond it the newest are dropped and counted.
  package static let events = 16_384

  /// Credit of a channel at first, bytes with charges; both sides begin with it.
  package static let window = 256 << 10
  /// Credit that a channel's window grows to, bytes.
  package static let grownWindow = 4 << 20
  /// What all windows of a connection may grow by together, bytes.
  package static let windowGrowth = 16 << 20
  /// Reliable messages under reassembly, bytes of their totals: twice what an honest peer can have.
  package static let reassemblyBytes = 8 << 20
  /// Gaps and pieces of one message that is put together.
  package static let reassemblyRanges = 4096
  /// Unreliable messages under reassembly; beyond it the oldest is forgotten.
  package static let unreliableReassemblies = 4
  /// Bytes of unreliable messages that wait for the owner; beyond it new ones are dropped.
  package static let unreliableReceiveBytes = 256 << 10
  /// Unreliable messages that wait for the owner; beyond it new ones are dropped.
  package static let unreliableReceiveMessages = 4096

  /// The longest message that a mode takes, bytes.
  package static func length(of delivery: Delivery) -> Int {
    switch delivery {
    case .reliableOrdered, .reliableUnordered: messageLength
    case .unreliable, .unreliableSequenced, .reliableSequenced: latestLength
    }
  }
}

extension Delivery {
  /// Whether only the newest message counts.
  package var isSequenced: Bool { self == .unreliableSequenced || self == .reliableSequenced }
  /// Whether the receiver holds every message until its owner takes it, so that it costs credit.
  var needsCredit: Bool { self == .reliableOrdered || self == .reliableUnordered }
}
