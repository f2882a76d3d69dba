/// Events that wait for a reader, one a subject at most: however slow the reader is, the backlog
/// holds no more than there are subjects, and the newest state of each is in it.
struct Backlog<Subject: Hashable & Sendable, Event: Sendable>: Sendable {
  private struct Entry: Sendable {
    var number: UInt64
    var event: Event
  }

  private var entries: [Subject: Entry] = [:]
  /// Subjects in the order of their first unread event; some have been taken back since.
  private var queue: [(number: UInt64, subject: Subject)] = []
  private var start = 0
  private var nextNumber: UInt64 = 0

  /// How many events wait.
  var count: Int { entries.count }

  /// Adds an event; `merge` makes one of it and of an unread one, or none where they cancel out.
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

  /// Takes the oldest event.
  mutating func popFirst() -> Event? {
    while start < queue.count {
      let (number, subject) = queue[start]
      start += 1
      compact()
      guard let entry = entries[subject], entry.number == number else { continue }
      entries[subject] = nil
      return entry.event
    }
    return nil
  }

  /// Takes all events, the oldest first.
  mutating func popAll() -> [Event] {
    var events: [Event] = []
    while let event = popFirst() { events.append(event) }
    return events
  }

  /// Drops what has been read or taken back, once it is the larger part.
  private mutating func compact() {
    guard queue.count > 2 * entries.count + 64 else { return }
    queue = queue[start...].filter { entries[$0.subject]?.number == $0.number }
    start = 0
  }
}
