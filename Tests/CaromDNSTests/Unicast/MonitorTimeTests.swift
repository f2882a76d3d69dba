import CaromCore
import CaromDNS
import Testing

/// When a monitored query is repeated, and how a resolution is made of name servers' records.
@Suite struct MonitorTimeTests {
  private static let name: Name = "_game._tcp.example.com"

  private func makeAnswer(_ lives: [UInt32]) -> UnicastAnswer {
    let records = lives.enumerated().map { index, life in
      Record(Self.name, .address(.v4(UInt32(index))), timeToLive: life)
    }
    return UnicastAnswer(name: Self.name, records: records)
  }

  @Test(
    arguments: [
      ([100, 1000], 80), ([1000, 100], 80), ([20], 16), ([18], 15), ([0], 15), ([4500], 3600),
      ([86_400], 3600), ([UInt32.max, 50], 40),
    ] as [([UInt32], Int64)])
  func `a query is repeated at four fifths of the shortest life, after 15 s to an hour`(
    lives: [UInt32], seconds: Int64
  ) {
    var monitor = UnicastMonitor(start: .zero)
    let isDue = [
      monitor.handleTimeout(at: .zero), monitor.handleTimeout(at: .zero + .seconds(1)),
    ]
    #expect(isDue == [true, false])
    _ = monitor.handleAnswer(makeAnswer(lives), at: .zero + .seconds(1))
    let due = Instant.zero + .seconds(1 + seconds)
    #expect(monitor.nextTimeout == due)
    let wait = [
      monitor.handleTimeout(at: due.advanced(byNanoseconds: -1)), monitor.handleTimeout(at: due),
    ]
    #expect(wait == [false, true] && monitor.nextTimeout == nil)
  }

  @Test func `a name without records is queried again after a minute`() {
    var monitor = UnicastMonitor(start: .zero)
    _ = monitor.handleAnswer(makeAnswer([20]), at: .zero)
    #expect(monitor.handleAnswer(makeAnswer([]), at: .zero + .seconds(1)).count == 1)
    #expect(monitor.nextTimeout == .zero + .seconds(61))
    #expect(monitor.handleFailure(.timedOut, at: .zero + .seconds(61)).isEmpty)
    #expect(monitor.nextTimeout == .zero + .seconds(76))
  }

  @Test func `failures double the interval, from 15 s to an hour, until an answer`() {
    var monitor = UnicastMonitor(start: .zero)
    var intervals: [Int64] = []
    for _ in 0..<11 {
      #expect(monitor.handleFailure(.timedOut, at: .zero).isEmpty)
      intervals.append(((monitor.nextTimeout ?? .zero) - .zero).components.seconds)
    }
    #expect(intervals == [15, 30, 60, 120, 240, 480, 960, 1920, 3600, 3600, 3600])
    _ = monitor.handleAnswer(makeAnswer([100]), at: .zero)
    _ = monitor.handleFailure(.serverFailure, at: .zero)
    #expect(monitor.nextTimeout == .zero + .seconds(15))
  }

  @Test func `records stay until the shortest life ends, and are then removed once`() {
    var monitor = UnicastMonitor(start: .zero)
    _ = monitor.handleAnswer(makeAnswer([100, 1000]), at: .zero)
    let lost = [99, 100, 101].map { second in
      monitor.handleFailure(.unreachable, at: .zero + .seconds(second)).count
    }
    #expect(lost == [0, 2, 0] && monitor.records.isEmpty)
    let found = monitor.handleAnswer(makeAnswer([100]), at: .zero + .seconds(200))
    #expect(found == monitor.records.map(UnicastMonitor.Change.added) && found.count == 1)
  }

  @Test(
    arguments: [
      // The end of the records' life, the failures before the first wait that it shortens, and that
      // wait. Queries fail as soon as they are sent.
      (100, [15, 30, 55], 100), (110, [15, 30, 60, 15], 120), (40, [15, 25], 40), (10, [15], 15),
    ] as [(UInt32, [Int64], Int64)])
  func `a query is due when the records' life ends, if the intervals would make it later`(
    life: UInt32, waits: [Int64], end: Int64
  ) {
    var monitor = UnicastMonitor(start: .zero)
    _ = monitor.handleAnswer(makeAnswer([life]), at: .zero)
    var now = Instant.zero
    for wait in waits {
      #expect(monitor.handleFailure(.timedOut, at: now).isEmpty)
      #expect(monitor.nextTimeout == now + .seconds(wait))
      now = now + .seconds(wait)
    }
    #expect(now == .zero + .seconds(end))
    #expect(monitor.handleFailure(.timedOut, at: now).count == 1 && monitor.records.isEmpty)
  }

  @Test func `a changed time to live is no change, and an empty answer removes all`() {
    var monitor = UnicastMonitor(start: .zero)
    let counts = [[100, 100], [100, 50], [50], []].map { lives in
      monitor.handleAnswer(makeAnswer(lives), at: .zero).count
    }
    #expect(counts == [2, 0, 1, 1] && monitor.records.isEmpty)
  }

  private func makeService(
    _ target: Name, priority: UInt16 = 0, port: UInt16
  ) -> Record {
    Record(
      Self.name, .service(priority: priority, weight: 0, port: port, target: target),
      timeToLive: 60)
  }

  @Test func `RFC 2782: the hosts of a service are tried by priority, each once`() {
    let services = [
      makeService("c.example", priority: 3, port: 1),
      makeService("b.example", priority: 2, port: 2), makeService(".", port: 3),
      makeService("a.example", priority: 1, port: 4),
      makeService("B.example", priority: 1, port: 5),
      makeService("a.example", priority: 9, port: 6),
    ]
    var orders: Set<[Name]> = []
    for seed in 0..<20 {
      var generator = SeededGenerator(seed: UInt64(seed))
      orders.insert(Resolution.hosts(of: services, using: &generator))
    }
    #expect(
      orders == [
        ["a.example", "b.example", "c.example"], ["b.example", "a.example", "c.example"],
      ])
  }

  @Test func `RFC 2782: servers' addresses are tried by priority, and "." offers nothing`() throws {
    var generator = SeededGenerator(seed: 1)
    let (a, b) = (IPAddress.v4(1), IPAddress.v4(2))
    let services = [
      makeService("b.example", priority: 2, port: 20), makeService(".", port: 1),
      makeService("nowhere.example", port: 5), makeService("a.example", priority: 1, port: 10),
    ]
    let resolution = try #require(
      Resolution(
        services: services, addresses: ["a.example": [b, a], "B.example": [a]],
        text: ["seats": "1/2"], using: &generator))
    #expect(
      resolution.endpoints == [
        Endpoint(b, port: 10), Endpoint(a, port: 10), Endpoint(a, port: 20),
      ])
    #expect(resolution.host == "a.example" && resolution.interface == 0)
    #expect(resolution.text == ["seats": "1/2"])
    for services in [[], [makeService(".", port: 1)], [makeService("nowhere.example", port: 5)]] {
      #expect(
        Resolution(
          services: services, addresses: ["a.example": [a], ".": [a]], text: [:],
          using: &generator) == nil)
    }
  }
}
