import CaromCore
import CaromGroup
import Testing

@Suite struct CreditWindowTests {
  private var window = CreditWindow()
  private var room = 16 << 20
  private var now = Instant.zero

  /// Consumes bytes after some time, while `unread` further bytes have arrived.
  private mutating func consume(
    _ count: Int, after time: Duration = .zero, unread: Int = 0
  ) -> Bool {
    now = now + time
    let offset = window.consumed + UInt64(count)
    return window.consume(
      upTo: offset, received: offset + UInt64(unread), room: &room, at: now)
  }

  @Test mutating func `the limit rises by at least a quarter of the window`() {
    (window, room) = (CreditWindow(from: 1000), 0)
    #expect(window.limit == 1000 + 262_144)
    #expect(!consume(65_535))
    #expect(consume(1))
    #expect(window.limit == 1000 + 262_144 + 65_536)
  }

  @Test(arguments: [(1_000_000, 512 << 10), (3_000_000, 2 << 20), (100_000_000, 4 << 20)])
  mutating func `a window grows until it holds what arrives in half a second`(
    rate: Int, size: Int
  ) {
    for _ in 0..<10 * rate / 50_000 { _ = consume(50_000, after: .seconds(50_000) / rate) }
    #expect(window.size == size)
    #expect(room == 16 << 20 - window.growth)
  }

  @Test mutating func `the window of a slow sender does not grow, however much it sends`() {
    for _ in 0..<100 { _ = consume(10_000, after: .milliseconds(20)) }
    #expect(window.size == CreditWindow.initialSize)
  }

  @Test mutating func `the window of a reader that falls behind does not grow`() {
    for _ in 0..<200 { _ = consume(64 << 10, unread: 160 << 10) }
    #expect(window.size == CreditWindow.initialSize)
  }

  @Test mutating func `a window grows only while there is room for all windows`() {
    room = 300 << 10
    for _ in 0..<200 { _ = consume(window.size) }
    #expect(window.size == 512 << 10)
    #expect(room == 44 << 10)
  }
}
