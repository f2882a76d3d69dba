/// First in, first out: what is told waits here for whoever asks.
struct Backlog<Element: Sendable>: Sendable {
  private var elements: [Element] = []
  private var head = 0

  var count: Int { elements.count - head }
  var isEmpty: Bool { head == elements.count }
  var first: Element? { isEmpty ? nil : elements[head] }

  mutating func append(_ element: Element) { elements.append(element) }

  mutating func popFirst() -> Element? {
    guard head < elements.count else { return nil }
    let element = elements[head]
    head += 1
    if head == elements.count {
      elements.removeAll(keepingCapacity: true)
      head = 0
    } else if head > 64, head * 2 > elements.count {
      elements.removeFirst(head)
      head = 0
    }
    return element
  }

  /// Removes the first element that `isWanted` holds for.
  mutating func removeFirst(where isWanted: (Element) -> Bool) -> Element? {
    guard let index = elements[head...].firstIndex(where: isWanted) else { return nil }
    return elements.remove(at: index)
  }

  func reduce<Result>(_ initial: Result, _ next: (Result, Element) -> Result) -> Result {
    elements[head...].reduce(initial, next)
  }
}
