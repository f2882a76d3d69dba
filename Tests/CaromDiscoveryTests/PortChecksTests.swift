import CaromCore
import Testing

@testable import CaromDiscovery

@Suite struct PortChecksTests {
  /// The number of looks within 10 s if something happens every 10 ms.
  private static func count(_ occasion: PortChecks.Occasion?) -> Int {
    var (checks, count) = (PortChecks(), 0)
    for step in 0..<1_000 as Range<Int64> {
      let now = Instant.zero + .milliseconds(10 * step)
      if let occasion { checks.schedule(for: occasion, at: now) }
      guard checks.next <= now else { continue }
      checks.note(at: now)
      count += 1
    }
    return count
  }

  @Test func `multicast of this host causes one look at the port a second at most`() {
    #expect(Self.count(.multicast) == 10)
  }

  @Test func `new queries cause ten a second at most, and nothing one every five seconds`() {
    #expect(Self.count(.request) == 100)
    #expect(Self.count(nil) == 2)
  }
}
