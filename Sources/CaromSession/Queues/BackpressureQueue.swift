import CaromCore
import CaromProtocol

/// The messages of one connection that wait until the send queue has room, in the order in which
/// they were passed to `send` or `post`.
struct BackpressureQueue: Sendable {
  /// The maximum number of waiting messages of one connection that belong to a suspended task.
  static let limit = 1024
  /// The number of waiting posted messages at which no more are accepted.
  static let postLimit = 4096
  /// The number of bytes of waiting posted messages at which no more are accepted.
  static let postByteLimit = 4 << 20

  struct Entry: Sendable {
    /// The number that identifies the entry when its task is cancelled.
    let id: UInt64
    let bytes: [UInt8]
    let channel: UInt8
    let options: SendOptions
    /// The suspended task; nil for a posted message.
    let continuation: CheckedContinuation<Result<UInt64?, SendError>, Never>?

    func isExpired(at now: Instant) -> Bool { options.deadline.map { $0 <= now } ?? false }
  }

  private(set) var entries = Deque<Entry>()
  /// The number of posted messages in `entries`.
  private(set) var postCount = 0
  /// The total length of the posted messages in `entries`, in bytes.
  private var postBytes = 0

  /// The number of suspended tasks.
  var taskCount: Int { entries.count - postCount }

  /// Whether no further message may be posted.
  var isFullOfPosts: Bool {
    postCount >= Self.postLimit || postBytes >= Self.postByteLimit
  }

  /// Whether the waiting posted messages take up no more than half of either limit.
  var hasRoomForPosts: Bool {
    postCount <= Self.postLimit / 2 && postBytes <= Self.postByteLimit / 2
  }

  mutating func append(_ entry: Entry) {
    entries.append(entry)
    guard entry.continuation == nil else { return }
    postCount += 1
    postBytes += entry.bytes.count
  }

  /// Removes and returns the first entry for which `predicate` holds, or nil if there is none.
  mutating func removeFirst(where predicate: (Entry) -> Bool) -> Entry? {
    let entry = entries.removeFirst(where: predicate)
    if let entry { didRemove(entry) }
    return entry
  }

  /// Removes and returns the first entry, or nil if there is none.
  mutating func popFirst() -> Entry? {
    let entry = entries.popFirst()
    if let entry { didRemove(entry) }
    return entry
  }

  private mutating func didRemove(_ entry: Entry) {
    guard entry.continuation == nil else { return }
    postCount -= 1
    postBytes -= entry.bytes.count
  }

  /// The earliest end of a waiting message's lifetime, or nil if no waiting message has a lifetime.
  var nextTimeout: Instant? {
    entries.reduce(nil) { earliest($0, $1.options.deadline) }
  }
}
