import CaromCore
import CaromProtocol

/// Questions that this side has asked and that are not answered yet.
struct RequestTable {
  /// The most questions to one peer that are open at a time: half of what it lets wait.
  static let limit = 128

  typealias Outcome = Result<[UInt8], RequestError>

  enum State {
    /// It leaves.
    case open
    /// It was answered before the asking task went on.
    case told(Outcome)
    case awaited(CheckedContinuation<Outcome, Never>)
  }

  struct Entry {
    let link: ConnectionID
    let deadline: Instant
    var state = State.open
  }

  var entries: [UInt32: Entry] = [:]
  var lastNumber: UInt32 = 0

  /// Opens a question; `nil` where too many are open.
  mutating func open(to link: ConnectionID, until deadline: Instant) -> UInt32? {
    guard entries.values.count(where: { $0.link == link }) < Self.limit else { return nil }
    repeat { lastNumber &+= 1 } while entries[lastNumber] != nil
    entries[lastNumber] = Entry(link: link, deadline: deadline)
    return lastNumber
  }

  /// The outcome is known.
  mutating func settle(_ number: UInt32, _ outcome: Outcome) {
    switch entries[number]?.state {
    case .open: entries[number]?.state = .told(outcome)
    case .awaited(let continuation):
      entries[number] = nil
      continuation.resume(returning: outcome)
    case .told, nil: break
    }
  }

  /// When the next one is late of those that have left.
  var nextTimeout: Instant? {
    entries.values.reduce(nil) { time, entry in
      if case .awaited = entry.state { earliest(time, entry.deadline) } else { time }
    }
  }

  /// The questions that `isWanted` holds for, in the order of asking.
  func numbers(where isWanted: (Entry) -> Bool) -> [UInt32] {
    entries.filter { isWanted($0.value) }.keys.sorted()
  }
}
