import CaromCore
import CaromProtocol

/// A queue of the requests of one exchange that wait to be answered.
final class RequestQueue<Request: Sendable>: Sendable {
  struct Entry: Sendable {
    let peer: Peer
    let number: UInt32
    let request: Request
  }

  let inbox = Inbox<Entry>(limit: UnreadLimits.requests, overflow: .pause)

  /// Adds a request. Returns false if the queue is full.
  func append(_ entry: Entry) -> Bool {
    guard inbox.count < UnreadLimits.requests else { return false }
    _ = inbox.push(entry)
    return true
  }
}
