/// A queue of events for a reader that polls them and may fall behind.
///
/// The queue holds at most `limit` events. When it is full, each new event replaces the oldest one.
/// Before the reader gets the remaining events, it gets a report with the number of dropped events.
package struct EventQueue<Event: Sendable>: Sendable {
  /// The maximum number of events that the queue holds.
  package let limit: Int
  private var events = Deque<Event>()
  private var dropped = 0

  package init(limit: Int) { self.limit = limit }

  package mutating func append(_ event: Event) {
    if events.count == limit {
      events.popFirst()
      dropped += 1
    }
    events.append(event)
  }

  /// Removes and returns the first event, or returns nil if the queue is empty. If events have been
  /// dropped since the last report, returns the report that `makeReport` creates from their number
  /// instead, and removes no event.
  package mutating func popFirst(reporting makeReport: (_ dropped: Int) -> Event) -> Event? {
    guard dropped > 0 else { return events.popFirst() }
    defer { dropped = 0 }
    return makeReport(dropped)
  }
}
