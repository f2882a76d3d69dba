import CaromCore
import CaromProtocol

/// Messages of one connection whose senders wait until the connection's send queue has room, in the
/// order of sending.
struct BackpressureQueue: Sendable {
  /// The most waiting messages of one connection. Each belongs to a suspended task.
  static let limit = 1024

  struct Entry: Sendable {
    /// Identifies the entry when its task is cancelled.
    let id: UInt64
    let bytes: [UInt8]
    let channel: UInt8
    let options: SendOptions
    let continuation: CheckedContinuation<Result<UInt64?, SendError>, Never>

    func isExpired(at now: Instant) -> Bool { options.deadline.map { $0 <= now } ?? false }
  }

  var entries = Deque<Entry>()

  /// The earliest time at which the lifetime of a waiting message ends, or nil if none has one.
  var nextTimeout: Instant? {
    entries.reduce(nil) { earliest($0, $1.options.deadline) }
  }
}
