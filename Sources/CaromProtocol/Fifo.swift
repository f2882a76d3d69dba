/// First in, first out, in a ring that grows by doubling and keeps its room.
struct Fifo<Element: Sendable>: Sendable {
  /// Its count is a power of two, or nothing was ever appended.
  private var slots: [Element?] = []
  private var head = 0
  private(set) var count = 0

  var isEmpty: Bool { count == 0 }
  var first: Element? { count == 0 ? nil : slots[head] }

  subscript(index: Int) -> Element {
    get { slots[place(of: index)]! }
    set { slots[place(of: index)] = newValue }
  }

  private func place(of index: Int) -> Int {
    precondition(index >= 0 && index < count, "an index is within the count")
    return (head + index) & (slots.count - 1)
  }

  mutating func append(_ element: Element) {
    if count == slots.count { grow() }
    slots[(head + count) & (slots.count - 1)] = element
    count += 1
  }

  mutating func popFirst() -> Element? {
    guard count > 0 else { return nil }
    var element: Element?
    swap(&element, &slots[head])
    head = (head + 1) & (slots.count - 1)
    count -= 1
    return element
  }

  private mutating func grow() {
    var larger: [Element?] = []
    larger.reserveCapacity(max(8, slots.count * 2))
    for index in 0..<count { larger.append(self[index]) }
    while larger.count < max(8, slots.count * 2) { larger.append(nil) }
    slots = larger
    head = 0
  }
}
