/// First in, first out, without shifting at each `popFirst`: the array is emptied when it is read.
struct EventQueue<Event: Sendable>: Sendable {
  /// `nil` where an event was taken out: moved, not copied.
  private var events: [Event?] = []
  private var head = 0

  var isEmpty: Bool { head == events.count }
  var count: Int { events.count - head }

  mutating func append(_ event: Event) { events.append(event) }

  mutating func removeAll(where isUnwanted: (Event) -> Bool) {
    let rest = events[head...].filter { $0.map { !isUnwanted($0) } ?? false }
    events = Array(rest)
    head = 0
  }

  mutating func popFirst() -> Event? {
    guard head < events.count else { return nil }
    var event: Event?
    swap(&event, &events[head])
    head += 1
    if head == events.count {
      events.removeAll(keepingCapacity: true)
      head = 0
    }
    return event
  }
}
