import Testing

@testable import CaromCore

@Suite struct DequeTests {
  @Test func `elements are removed in the order in which they were appended`() {
    var deque = Deque<String>()
    for word in ["a", "b", "c"] { deque.append(word) }
    #expect(deque.first == "a" && deque.last == "c" && deque.count == 3)
    #expect([deque.popFirst(), deque.popFirst(), deque.popFirst()] == ["a", "b", "c"])
    #expect(deque.popFirst() == nil && deque.popLast() == nil && deque.isEmpty)
  }

  @Test(arguments: 1...8 as ClosedRange<UInt64>)
  func `a deque behaves like an array`(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var deque = Deque<Int>()
    var model: [Int] = []
    for step in 0..<4_000 {
      // Alternate between growing and shrinking, so that the ring wraps around at many sizes.
      let isGrowing = step / 400 % 2 == 0
      switch Int.random(in: 0..<(isGrowing ? 12 : 20), using: &generator) {
      case 0...5:
        deque.append(step)
        model.append(step)
      case 6, 7:
        deque.prepend(step)
        model.insert(step, at: 0)
      case 8 where !model.isEmpty:
        let position = Int.random(in: model.indices, using: &generator)
        deque[position] += 10_000
        model[position] += 10_000
      case 9:
        let element = model.randomElement(using: &generator) ?? -1
        let removed = deque.removeFirst { $0 == element }
        let expected = model.firstIndex(of: element).map { model.remove(at: $0) }
        #expect(removed == expected)
      case 10 where generator.chance(0.05):
        deque.removeAll { $0 % 3 == 0 }
        model.removeAll { $0 % 3 == 0 }
      case 10 where generator.chance(0.01):
        deque.removeAll()
        model.removeAll()
      case 11: deque.trim()
      case 12, 13:
        let last = deque.popLast()
        let expected = model.popLast()
        #expect(last == expected)
      default:
        let first = deque.popFirst()
        #expect(first == model.first)
        if !model.isEmpty { model.removeFirst() }
      }
      #expect(deque.count == model.count && deque.first == model.first)
      if step % 50 == 0 { #expect(deque.elementsEqual(model)) }
    }
  }

  @Test func `an element can be replaced at its position`() {
    var deque = Deque<[Int]>()
    deque.append([1])
    deque.append([2])
    deque.popFirst()
    deque.append([3])
    deque[1].append(4)
    #expect(Array(deque) == [[2], [3, 4]])
  }

  @Test func `a removed element is released at once`() {
    final class Token: Sendable {}
    var deque = Deque<Token>()
    weak var released: Token?
    do {
      let token = Token()
      released = token
      deque.append(token)
      deque.append(Token())
    }
    deque.popFirst()
    #expect(released == nil && deque.count == 1)
  }

  @Test func `trimming frees capacity that was not used since the last trim`() {
    var deque = Deque<Int>()
    for number in 0..<1_000 { deque.append(number) }
    while deque.count > 3 { deque.popFirst() }
    #expect(deque.slots.count == 1_024)
    deque.trim()
    #expect(deque.slots.count == 1_024, "the capacity was used since the last trim")
    deque.trim()
    #expect(deque.slots.count == 4)
    #expect(Array(deque) == [997, 998, 999])
    deque.removeAll()
    deque.trim()
    deque.append(1)
    #expect(Array(deque) == [1])
  }
}
