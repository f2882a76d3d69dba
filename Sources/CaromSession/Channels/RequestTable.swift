import CaromCore
import CaromProtocol

/// The requests that this side has sent and that have no response yet.
struct RequestTable {
  /// The maximum number of pending requests to one peer: half the number of requests that a
  /// responder queues.
  static let limit = 128

  typealias Outcome = Result<[UInt8], RequestError>

  enum State {
    /// The request is being sent.
    case sending
    /// The outcome arrived before the requester's task began to wait for it.
    case resolved(Outcome)
    /// The requester's task is suspended until the outcome arrives.
    case awaited(CheckedContinuation<Outcome, Never>)
  }

  struct Entry {
    let connection: ConnectionID
    let deadline: Instant
    var state = State.sending
  }

  var entries: [UInt32: Entry] = [:]
  private var lastNumber: UInt32 = 0

  /// Adds a request and returns its number, or nil if too many requests to the peer are pending.
  mutating func add(to connection: ConnectionID, until deadline: Instant) -> UInt32? {
    guard entries.values.count(where: { $0.connection == connection }) < Self.limit else {
      return nil
    }
    repeat { lastNumber &+= 1 } while entries[lastNumber] != nil
    entries[lastNumber] = Entry(connection: connection, deadline: deadline)
    return lastNumber
  }

  /// Resumes the task of a request with its outcome, or stores the outcome until the task waits
  /// for it.
  mutating func resolve(_ number: UInt32, _ outcome: Outcome) {
    switch entries[number]?.state {
    case .sending: entries[number]?.state = .resolved(outcome)
    case .awaited(let continuation):
      entries[number] = nil
      continuation.resume(returning: outcome)
    case .resolved, nil: break
    }
  }

  /// The earliest deadline of the requests whose tasks are suspended, or nil if there are none.
  var nextTimeout: Instant? {
    entries.values.reduce(nil) { time, entry in
      if case .awaited = entry.state { earliest(time, entry.deadline) } else { time }
    }
  }

  /// Returns the numbers of the requests for which `predicate` holds, in the order in which they
  /// were sent.
  func numbers(where predicate: (Entry) -> Bool) -> [UInt32] {
    entries.filter { predicate($0.value) }.keys.sorted()
  }
}
