import CaromCore
import CaromProtocol

/// The messages of one connection whose senders wait until the send queue has room, in the order in
/// which they were passed to `send`.
struct BackpressureQueue: Sendable {
  /// The maximum number of waiting messages of one connection. Each message belongs to a suspended
  /// task.
  static let limit = 1024

  struct Entry: Sendable {
    /// The number that identifies the entry when its task is cancelled.
    let id: UInt64
    let bytes: [UInt8]
    let channel: UInt8
    let options: SendOptions
    let continuation: CheckedContinuation<Result<UInt64?, SendError>, Never>

    func isExpired(at now: Instant) -> Bool { options.deadline.map { $0 <= now } ?? false }
  }

  var entries = Deque<Entry>()

  /// The earliest end of a waiting message's lifetime, or nil if no waiting message has a lifetime.
  var nextTimeout: Instant? {
    entries.reduce(nil) { earliest($0, $1.options.deadline) }
  }
}
