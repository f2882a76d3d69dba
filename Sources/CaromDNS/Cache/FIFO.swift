/// What leaves in the order in which it came.
struct FIFO<Element: Sendable>: Sendable {
  private var elements: [Element] = []
  private var start = 0

  mutating func append(_ element: Element) { elements.append(element) }

  mutating func popFirst() -> Element? {
    guard start < elements.count else {
      elements.removeAll(keepingCapacity: true)
      start = 0
      return nil
    }
    defer { start += 1 }
    return elements[start]
  }

  var isEmpty: Bool { start == elements.count }

  mutating func removeAll(where isGone: (Element) -> Bool) {
    elements = elements[start...].filter { !isGone($0) }
    start = 0
  }
}
