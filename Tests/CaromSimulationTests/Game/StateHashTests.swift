import Testing

@testable import CaromSimulation

@Test func `the hash is the documented one`() {
  var hash = StateHash()
  #expect(hash.value == 0xCBF2_9CE4_8422_2325)
  hash.combine(UInt64(1))
  let product = UInt64(0xCBF2_9CE4_8422_2324) &* 0x9FB2_1C65_1E98_DF25
  #expect(hash.value == product ^ (product >> 32))
}

@Test func `the order and the sign of words change the hash`() {
  func hash(_ words: [Int64]) -> UInt64 {
    var hash = StateHash()
    for word in words { hash.combine(word) }
    return hash.value
  }
  let states: [[Int64]] = [[], [0], [0, 0], [1, 2], [2, 1], [-1, 2], [1, -2], [1], [.min]]
  #expect(Set(states.map(hash)).count == states.count)
}

@Test func `ticks count, compare and wrap`() {
  #expect(Tick(7).next == Tick(8))
  #expect(Tick(7).distance(to: Tick(5)) == -2)
  #expect(Tick(7).advanced(by: -3) == Tick(4))
  #expect(Tick(5) < Tick(7))
  #expect(Tick(.max).next == .zero)
}
