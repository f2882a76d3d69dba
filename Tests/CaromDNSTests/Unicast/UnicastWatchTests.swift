import CaromCore
import CaromDNS
import Testing

@Suite struct UnicastWatchTests {
  private func makeAnswer(_ labels: [String], life: UInt32 = 100) throws -> UnicastAnswer {
    let records = try labels.map { label in
      Record(
        "_game._tcp.example.com",
        .pointer(try Name(text: "\(label)._game._tcp.example.com")), timeToLive: life)
    }
    return UnicastAnswer(name: "_game._tcp.example.com", records: records, additionals: [])
  }

  private func labels(_ changes: [UnicastWatch.Change]) -> [String] {
    changes.map { change in
      switch change {
      case .added(let record): "+" + (record.data.targetLabel ?? "")
      case .removed(let record): "-" + (record.data.targetLabel ?? "")
      }
    }
  }

  @Test func `changes are reported once, and the query is repeated as records age`() throws {
    var now = Instant.zero
    var watch = UnicastWatch(start: now)
    let asks = [watch.handleTimeout(at: now), watch.handleTimeout(at: now)]
    #expect(asks == [true, false] && watch.nextTimeout == nil)
    let first = watch.handleAnswer(try makeAnswer(["a", "b", "a"]), at: now)
    #expect(labels(first) == ["+a", "+b"])
    #expect(watch.nextTimeout == now + .seconds(80))
    now = now + .seconds(80)
    _ = watch.handleTimeout(at: now)
    let second = watch.handleAnswer(try makeAnswer(["b", "c"], life: 5), at: now)
    #expect(labels(second) == ["-a", "+c"])
    #expect(watch.nextTimeout == now + UnicastWatch.shortestInterval)
    _ = watch.handleAnswer(try makeAnswer(["b"], life: .max), at: now)
    #expect(watch.nextTimeout == now + UnicastWatch.longestInterval)
  }

  @Test func `records survive failures until they expire`() throws {
    var watch = UnicastWatch(start: .zero)
    _ = watch.handleAnswer(try makeAnswer(["a"]), at: .zero)
    var lost: [[String]] = []
    for second in [80, 95, 125] {
      lost.append(labels(watch.handleFailure(.timedOut, at: .zero + .seconds(second))))
    }
    #expect(lost == [[], [], ["-a"]])
    #expect(watch.nextTimeout == .zero + .seconds(125 + 60))
    _ = watch.handleAnswer(try makeAnswer(["a"]), at: .zero)
    let removed = watch.handleFailure(.nameError, at: .zero)
    #expect(labels(removed) == ["-a"])
  }

  @Test func `the number of records is limited`() throws {
    var watch = UnicastWatch(start: .zero)
    let many = try makeAnswer((0..<UnicastWatch.limit + 10).map { "n\($0)" })
    let counts = (0..<2).map { _ in watch.handleAnswer(many, at: .zero).count }
    #expect(counts == [UnicastWatch.limit, 0])
  }
}

extension RecordData {
  fileprivate var targetLabel: String? {
    if case .pointer(let name) = self { name.firstLabel } else { nil }
  }
}
