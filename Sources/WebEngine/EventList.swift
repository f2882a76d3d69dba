import CaromCore

/// The events that wait for the page.
package struct EventList<Event: Sendable>: Sendable {
  /// The maximum number of events. Beyond it, the oldest are dropped: a page that draws nothing
  /// plays nothing either.
  package static var limit: Int { 256 }

  private var events = Deque<Event>()

  /// Creates an empty list.
  package init() {}

  /// Adds the newest event.
  package mutating func append(_ event: Event) {
    if events.count == Self.limit { _ = events.popFirst() }
    events.append(event)
  }

  /// Removes and returns the oldest event, or nil if there is none.
  package mutating func popFirst() -> Event? { events.popFirst() }
}
