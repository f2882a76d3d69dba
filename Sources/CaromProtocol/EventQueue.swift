/// First in, first out, without shifting at each `popFirst`: the array is emptied when it is read.
struct EventQueue<Event: Sendable>: Sendable {
  private var events: [Event] = []
  private var head = 0

  var isEmpty: Bool { head == events.count }

  mutating func append(_ event: Event) { events.append(event) }

  mutating func popFirst() -> Event? {
    guard head < events.count else { return nil }
    defer {
      head += 1
      if head == events.count {
        events.removeAll(keepingCapacity: true)
        head = 0
      }
    }
    return events[head]
  }
}
