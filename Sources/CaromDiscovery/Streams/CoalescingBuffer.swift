import CaromCore

/// A queue of unread events that holds at most one event per subject. If a subject already has an
/// unread event, a new event is merged with it. The memory that a slow reader costs is thus bounded
/// by the number of subjects.
struct CoalescingBuffer<Subject: Hashable & Sendable, Event: Sendable>: Sendable {
  private struct Entry: Sendable {
    var number: UInt64
    var event: Event
  }

  private var entries: [Subject: Entry] = [:]
  /// The subjects, ordered by their first unread events. An entry whose number differs from the
  /// number of the subject's event is stale and skipped.
  private var queue = Deque<(number: UInt64, subject: Subject)>()
  private var nextNumber: UInt64 = 0

  /// The number of unread events.
  var count: Int { entries.count }

  /// Adds an event. If the subject has an unread event, `merge` combines the two, or returns nil if
  /// they cancel out.
  mutating func add(_ event: Event, about subject: Subject, _ merge: (Event, Event) -> Event?) {
    if let entry = entries[subject] {
      if let merged = merge(entry.event, event) {
        entries[subject]?.event = merged
      } else {
        entries[subject] = nil
        compact()
      }
      return
    }
    entries[subject] = Entry(number: nextNumber, event: event)
    queue.append((nextNumber, subject))
    nextNumber += 1
  }

  /// Removes and returns the oldest event, or nil if there is none.
  mutating func popFirst() -> Event? {
    while let (number, subject) = queue.popFirst() {
      guard let entry = entries[subject], entry.number == number else { continue }
      entries[subject] = nil
      return entry.event
    }
    return nil
  }

  /// Removes and returns all events, oldest first.
  mutating func popAll() -> [Event] {
    var events: [Event] = []
    while let event = popFirst() { events.append(event) }
    return events
  }

  /// Removes stale entries once they make up more than half of the queue.
  private mutating func compact() {
    guard queue.count > 2 * entries.count + 64 else { return }
    queue.removeAll { [entries] in entries[$0.subject]?.number != $0.number }
  }
}
