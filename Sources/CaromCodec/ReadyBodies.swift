/// Whole bodies that wait for `next()`, at most as many as one chunk holds if it is drained.
struct ReadyBodies: Sendable {
  private var bodies: [[UInt8]] = []
  private var first = 0

  mutating func append(_ body: [UInt8]) { bodies.append(body) }

  mutating func removeFirst() -> [UInt8]? {
    guard first < bodies.count else { return nil }
    var body: [UInt8] = []
    swap(&body, &bodies[first])
    first += 1
    if first == bodies.count {
      bodies.removeAll(keepingCapacity: true)
      first = 0
    }
    return body
  }
}
