import CaromGroup
import Testing

@Suite struct CreditWindowTests {
  /// Consumes bytes of a sender that has used all of its credit but `unused` bytes.
  private func consume(
    _ window: inout CreditWindow, _ count: Int, unused: Int = 0, _ room: inout Int
  ) -> Bool {
    window.consume(
      upTo: window.consumed + UInt64(count), received: window.limit - UInt64(unused), room: &room)
  }

  @Test func `the limit rises by at least a quarter of the window`() {
    var (window, room) = (CreditWindow(from: 1000), 0)
    #expect(window.limit == 1000 + 262_144)
    #expect(!consume(&window, 65_535, &room))
    #expect(consume(&window, 1, &room))
    #expect(window.limit == 1000 + 262_144 + 65_536)
  }

  @Test func `the window of a sender that waits for credit grows to its maximum and no further`() {
    var (window, room) = (CreditWindow(), 16 << 20)
    for _ in 0..<200 { _ = consume(&window, window.size, &room) }
    #expect(window.size == CreditWindow.maximumSize)
    #expect(room == 16 << 20 - window.growth)
  }

  @Test func `the window of a reader that falls behind does not grow`() {
    var (window, room) = (CreditWindow(), 16 << 20)
    for _ in 0..<200 { _ = consume(&window, 64 << 10, &room) }
    #expect(window.size == CreditWindow.initialSize)
  }

  @Test func `the window of a sender that does not use its credit does not grow`() {
    var (window, room) = (CreditWindow(), 16 << 20)
    for _ in 0..<200 { _ = consume(&window, 160 << 10, unused: 96 << 10, &room) }
    #expect(window.size == CreditWindow.initialSize)
  }

  @Test func `a window grows only while there is room for all windows`() {
    var (window, room) = (CreditWindow(), 300 << 10)
    for _ in 0..<200 { _ = consume(&window, window.size, &room) }
    #expect(window.size == 512 << 10)
    #expect(room == 44 << 10)
  }
}
