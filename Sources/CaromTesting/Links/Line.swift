/// First in, first out; what was taken out is forgotten.
struct Line<Element: Sendable>: Sendable {
  private var elements: [Element?] = []
  private var first = 0

  var count: Int { elements.count - first }

  /// The one that came last, if it is still in.
  var last: Element? {
    get { count == 0 ? nil : elements[elements.count - 1] }
    set { if count > 0 { elements[elements.count - 1] = newValue } }
  }

  mutating func append(_ element: Element) { elements.append(element) }

  mutating func removeFirst() -> Element? {
    guard count > 0 else { return nil }
    defer {
      elements[first] = nil
      first += 1
      if 2 * first >= elements.count {
        elements.removeFirst(first)
        first = 0
      }
    }
    return elements[first]
  }

  mutating func removeAll() { self = Line() }
}
