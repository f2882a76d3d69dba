/// Events for a reader that polls them and may fall behind.
///
/// At most `limit` events wait. Beyond this number, the oldest are dropped, and the reader is told
/// how many before it gets the events that are left.
package struct EventQueue<Event: Sendable>: Sendable {
  /// The maximum number of events that wait.
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

  /// Removes and returns the first event, or nil if there is none. If events have been dropped,
  /// returns an event that `makeReport` makes from their number first.
  package mutating func popFirst(reporting makeReport: (_ dropped: Int) -> Event) -> Event? {
    guard dropped > 0 else { return events.popFirst() }
    defer { dropped = 0 }
    return makeReport(dropped)
  }
}
