import CaromCore
import CaromGroup
import Testing

@Suite struct CreditWindowTests {
  private func consume(
    _ window: inout CreditWindow, _ count: Int, _ room: inout Int, at now: Instant
  ) -> Bool {
    window.consume(
      upTo: window.consumed + UInt64(count), roundTrip: .milliseconds(50), room: &room, at: now)
  }

  @Test func `the limit rises by at least a quarter of the window`() {
    var (window, room) = (CreditWindow(from: 1000), 0)
    #expect(window.limit == 1000 + 262_144)
    #expect(!consume(&window, 65_535, &room, at: .zero))
    #expect(consume(&window, 1, &room, at: .zero))
    #expect(window.limit == 1000 + 262_144 + 65_536)
  }

  @Test func `a fast reader's window grows to its maximum and no further`() {
    var (window, room, now) = (CreditWindow(), 16 << 20, Instant.zero)
    for _ in 0..<200 {
      _ = consume(&window, 256 << 10, &room, at: now)
      now = now + .milliseconds(5)
    }
    #expect(window.size == CreditWindow.maximumSize)
    #expect(room == 16 << 20 - window.growth)
  }

  @Test func `a slow reader's window does not grow`() {
    var (window, room, now) = (CreditWindow(), 16 << 20, Instant.zero)
    for _ in 0..<200 {
      _ = consume(&window, 64 << 10, &room, at: now)
      now = now + .milliseconds(50)
    }
    #expect(window.size == CreditWindow.initialSize)
  }

  @Test func `a window grows only while there is room for all windows`() {
    var (window, room) = (CreditWindow(), 300 << 10)
    for _ in 0..<200 { _ = consume(&window, 256 << 10, &room, at: .zero) }
    #expect(window.size == 512 << 10)
    #expect(room == 44 << 10)
  }
}
