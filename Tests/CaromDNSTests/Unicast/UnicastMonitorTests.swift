import CaromCore
import CaromDNS
import Testing

@Suite struct UnicastMonitorTests {
  private func makeAnswer(_ labels: [String], life: UInt32 = 100) throws -> UnicastAnswer {
    let records = try labels.map { label in
      Record(
        "_game._tcp.example.com",
        .pointer(try Name(text: "\(label)._game._tcp.example.com")), timeToLive: life)
    }
    return UnicastAnswer(name: "_game._tcp.example.com", records: records, additionals: [])
  }

  private func labels(_ changes: [UnicastMonitor.Change]) -> [String] {
    changes.map { change in
      switch change {
      case .added(let record): "+" + (record.data.targetLabel ?? "")
      case .removed(let record): "-" + (record.data.targetLabel ?? "")
      }
    }
  }

  @Test func `changes are reported once, and the query is repeated as records age`() throws {
    var now = Instant.zero
    var monitor = UnicastMonitor(start: now)
    let asks = [monitor.handleTimeout(at: now), monitor.handleTimeout(at: now)]
    #expect(asks == [true, false] && monitor.nextTimeout == nil)
    let first = monitor.handleAnswer(try makeAnswer(["a", "b", "a"]), at: now)
    #expect(labels(first) == ["+a", "+b"])
    #expect(monitor.nextTimeout == now + .seconds(80))
    now = now + .seconds(80)
    _ = monitor.handleTimeout(at: now)
    let second = monitor.handleAnswer(try makeAnswer(["b", "c"], life: 5), at: now)
    #expect(labels(second) == ["-a", "+c"])
    #expect(monitor.nextTimeout == now + UnicastMonitor.shortestInterval)
    _ = monitor.handleAnswer(try makeAnswer(["b"], life: .max), at: now)
    #expect(monitor.nextTimeout == now + UnicastMonitor.longestInterval)
  }

  @Test func `records survive failures until they expire`() throws {
    var monitor = UnicastMonitor(start: .zero)
    _ = monitor.handleAnswer(try makeAnswer(["a"]), at: .zero)
    var lost: [[String]] = []
    for second in [80, 95, 125] {
      lost.append(labels(monitor.handleFailure(.timedOut, at: .zero + .seconds(second))))
    }
    #expect(lost == [[], [], ["-a"]])
    #expect(monitor.nextTimeout == .zero + .seconds(125 + 60))
    _ = monitor.handleAnswer(try makeAnswer(["a"]), at: .zero)
    let removed = monitor.handleFailure(.nameError, at: .zero)
    #expect(labels(removed) == ["-a"])
  }

  @Test func `the number of records is limited`() throws {
    var monitor = UnicastMonitor(start: .zero)
    let many = try makeAnswer((0..<UnicastMonitor.limit + 10).map { "n\($0)" })
    let counts = (0..<2).map { _ in monitor.handleAnswer(many, at: .zero).count }
    #expect(counts == [UnicastMonitor.limit, 0])
  }
}

extension RecordData {
  fileprivate var targetLabel: String? {
    if case .pointer(let name) = self { name.firstLabel } else { nil }
  }
}
