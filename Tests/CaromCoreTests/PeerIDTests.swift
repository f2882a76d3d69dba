import CaromCore
import Testing

@Suite struct PeerIDTests {
  @Test func `an id is converted to 32 hexadecimal digits and back`() {
    let id = PeerID(high: 0x0123_4567_89AB_CDEF, low: 0x0F)
    #expect(id.description == "0123456789abcdef000000000000000f")
    #expect(PeerID(id.description) == id)
    #expect(PeerID("0123456789ABCDEF000000000000000F") == id)
    #expect(PeerID(high: 0, low: 0).description == String(repeating: "0", count: 32))
  }

  @Test(arguments: [
    "", "0", String(repeating: "0", count: 31), String(repeating: "0", count: 33),
    String(repeating: "g", count: 32), "+" + String(repeating: "0", count: 31),
    String(repeating: "0", count: 16) + "-" + String(repeating: "0", count: 15),
    "é" + String(repeating: "0", count: 30),
  ])
  func `anything else is no id`(text: String) {
    #expect(PeerID(text) == nil)
  }

  @Test func `ids are ordered as 128-bit numbers`() {
    let ids = [
      PeerID(high: 0, low: 1), PeerID(high: 0, low: .max), PeerID(high: 1, low: 0),
      PeerID(high: .max, low: 0),
    ]
    #expect(ids.reversed().sorted() == ids)
  }

  @Test func `a random id is determined by the generator`() {
    var one = SeededGenerator(seed: 1)
    var other = SeededGenerator(seed: 1)
    let ids = (0..<1_000).map { _ in PeerID.random(using: &one) }
    #expect(ids == (0..<1_000).map { _ in PeerID.random(using: &other) })
    #expect(Set(ids).count == 1_000)
  }

  @Test func `the longest name fits in a DNS label`() { #expect(PeerID.maximumNameLength == 63) }
}
