/// First in, first out, in a ring that grows by doubling and keeps its room.
struct EventQueue<Event: Sendable>: Sendable {
  /// `nil` where nothing waits: events are moved in and out, not copied.
  private var events: [Event?] = []
  private var head = 0
  private(set) var count = 0

  var isEmpty: Bool { count == 0 }

  mutating func append(_ event: Event) {
    if count == events.count { grow() }
    events[(head &+ count) & (events.count &- 1)] = event
    count += 1
  }

  private mutating func grow() {
    var grown: [Event?] = []
    grown.reserveCapacity(max(2, 2 * count))
    for place in 0..<count { grown.append(events[(head &+ place) & (count &- 1)]) }
    while grown.count < max(2, 2 * count) { grown.append(nil) }
    events = grown
    head = 0
  }

  mutating func removeAll(where isUnwanted: (Event) -> Bool) {
    for _ in 0..<count {
      if let event = popFirst(), !isUnwanted(event) { append(event) }
    }
  }

  mutating func popFirst() -> Event? {
    guard count > 0 else { return nil }
    var event: Event?
    swap(&event, &events[head])
    head = (head &+ 1) & (events.count &- 1)
    count -= 1
    return event
  }
}
