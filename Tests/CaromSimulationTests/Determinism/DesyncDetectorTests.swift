import CaromCore
import Testing

@testable import CaromSimulation

@Suite struct DesyncDetectorTests {
  /// The ticks, counted from the report, at which a further copy of it is due.
  private func copies(of detector: DesyncDetector, ticks: Int) -> [Int] {
    var detector = detector
    detector.didReport()
    return (1...ticks).filter { _ in
      detector.tick()
      guard detector.isReportDue else { return false }
      detector.didReport()
      return true
    }
  }

  @Test func `an unanswered report is repeated every 15 ticks, and sent 16 times`() {
    var detector = DesyncDetector()
    detector.tick()
    #expect(!detector.isReportDue && detector.reported == nil)
    detector.begin(at: Tick(40))
    #expect(detector.isReportDue && detector.reported == Tick(40))
    #expect(detector.state == .found(Tick(40)) && !detector.isAnswering)
    #expect(copies(of: detector, ticks: 400) == (1...15).map { 15 * $0 })
    detector.receive(isAnswer: true)
    #expect(detector.state == .named && detector.isAnswering)
    #expect(copies(of: detector, ticks: 400) == [])
  }

  @Test func `a report that answers nothing is answered, and the own one repeated`() {
    var detector = DesyncDetector()
    detector.begin(at: Tick(40))
    detector.didReport()
    detector.receive(isAnswer: false)
    #expect(detector.isReportDue && detector.isAnswering)
    #expect(copies(of: detector, ticks: 20) == [15])
    // Once answered, the report stays delivered.
    detector.receive(isAnswer: true)
    detector.receive(isAnswer: false)
    #expect(copies(of: detector, ticks: 400) == [])
  }

  @Test func `an earlier difference begins a new report, the same one does not`() {
    var detector = DesyncDetector()
    detector.begin(at: Tick(40))
    detector.receive(isAnswer: true)
    detector.didReport()
    detector.begin(at: Tick(40))
    #expect(!detector.isReportDue && detector.isAnswering)
    detector.begin(at: Tick(38))
    #expect(detector.isReportDue && !detector.isAnswering)
    #expect(detector.reported == Tick(38) && detector.state == .named)
    #expect(copies(of: detector, ticks: 400).count == 15)
  }

  @Test func `after the first difference no hash is compared`() {
    var detector = DesyncDetector()
    detector.record(3, at: Tick(1), local: 0xFFFF_FFFF_0000_0003)
    #expect(detector.state == .equal && detector.compared == 1)
    detector.record(8, at: Tick(5), local: nil)
    detector.record(4, at: Tick(2), local: 3)
    #expect(detector.state == .found(Tick(2)) && detector.compared == 2)
    detector.record(4, at: Tick(3), local: 3)
    detector.confirm(Tick(5), hash: 9)
    #expect(detector.state == .found(Tick(2)) && detector.compared == 2)
  }

  @Test func `a hash that waits is compared once, by its low 32 bits`() {
    var detector = DesyncDetector()
    detector.record(8, at: Tick(5), local: nil)
    detector.record(9, at: Tick(132), local: nil)
    detector.confirm(Tick(5), hash: 0xABCD_0000_0000_0008)
    detector.confirm(Tick(5), hash: 1)
    #expect(detector.state == .equal && detector.compared == 1)
    detector.confirm(Tick(132), hash: 8)
    #expect(detector.state == .found(Tick(132)))
  }
}

/// WireFormat, Rollback play: state reports.
@Suite struct DesyncStateReportTests {
  private func describe(_ counts: [Int]) -> SimulationDescription {
    var description = SimulationDescription()
    for (number, count) in counts.enumerated() {
      description.entity("ship", UInt64(number))
      for field in 0..<count { description.field("f\(field)", Int64(field)) }
    }
    return description
  }

  private func makeReport(
    _ description: SimulationDescription?, tick: UInt64 = 100, hashes: [UInt32] = [1]
  ) -> DesyncStateReport {
    DesyncStateReport(
      tick: Tick(tick), hashes: hashes, description: description, isAnswer: false)
  }

  @Test func `a report has at most 64 hashes, 4,096 entities and 7,168 fields`() throws {
    #expect(makeReport(nil, hashes: Array(0..<70)).hashes == Array(0..<64))
    #expect(makeReport(nil).entities == [])
    for (counts, sent) in [
      ([7_168], 1), ([7_168, 0, 1], 2), ([7_169], 0), ([7_000, 168, 1], 2), ([7_000, 169, 1], 1),
      (Array(repeating: 1, count: 4_096), 4_096), (Array(repeating: 1, count: 4_097), 4_096),
      (Array(repeating: 0, count: 4_097), 4_096),
    ] {
      let report = makeReport(describe(counts))
      #expect(report.entities.map(\.values.count) == Array(counts.prefix(sent)))
      #expect(try DesyncStateReport(decoding: report.encoded.span) == report)
    }
  }

  @Test func `a report beyond a limit is rejected`() throws {
    let head: [UInt8] = [0, 100, 0, 0, 0, 0, 0, 0, 0]
    let hash: [UInt8] = [1, 2, 3, 4]
    func decode(_ bytes: [UInt8]) throws(DecodeError) -> DesyncStateReport {
      try DesyncStateReport(decoding: bytes.span)
    }
    #expect(try decode(head + [1] + hash + [0]).hashes == [0x0403_0201])
    #expect(try decode([1] + head.dropFirst() + [1] + hash + [0]).isAnswer)
    #expect(throws: DecodeError.invalid(what: "answer flag")) {
      try decode([2] + head.dropFirst() + [1] + hash + [0])
    }
    for count in [0, 65, 255] as [UInt8] {
      let hashes = (0..<Int(count)).flatMap { _ in hash }
      #expect(throws: DecodeError.invalid(what: "count of hashes")) {
        try decode(head + [count] + hashes + [0])
      }
    }
    let most = (0..<64).flatMap { _ in hash }
    #expect(try decode(head + [64] + most + [0]).hashes.count == 64)
    // Before tick 2 there are the states of the ticks 1 and 0.
    let young: [UInt8] = [0, 2, 0, 0, 0, 0, 0, 0, 0]
    #expect(try decode(young + [3] + most.prefix(12) + [0]).hashes.count == 3)
    #expect(throws: DecodeError.invalid(what: "count of hashes")) {
      try decode(young + [4] + most.prefix(16) + [0])
    }
    #expect(throws: DecodeError.tooLarge(length: 4_097, limit: 4_096)) {
      try decode(head + [1] + hash + VarInt.bytes(4_097))
    }
    #expect(throws: DecodeError.tooLarge(length: 7_169, limit: 7_168)) {
      try decode(head + [1] + hash + [1, 0] + VarInt.bytes(7_169))
    }
    #expect(throws: DecodeError.tooLarge(length: 7_168, limit: 7_167)) {
      try decode(
        head + [1] + hash + [2, 0, 1] + Array(repeating: 0, count: 8) + [1]
          + VarInt.bytes(7_168))
    }
  }

  @Test func `the differing fields are named in order, at most 32`() {
    var mine = describe([2, 2])
    mine.entity("ball")
    mine.field("x", Int64(5))
    let theirs = makeReport(mine)
    #expect(theirs.differences(from: mine) == [])
    var other = SimulationDescription()
    other.entity("ship", 0)
    other.field("f0", Int64(0))
    other.field("f1", Int64(9))
    other.entity("ship", 1)
    other.field("f0", Int64(-2))
    other.field("f1", Int64(1))
    other.entity("ball")
    other.field("x", Int64(6))
    #expect(
      theirs.differences(from: other) == [
        .init(entity: "ship", number: 0, field: "f1", mine: 9, theirs: 1),
        .init(entity: "ship", number: 1, field: "f0", mine: -2, theirs: 0),
        .init(entity: "ball", number: 0, field: "x", mine: 6, theirs: 5),
      ])
    var many = SimulationDescription()
    for number in 0..<3 {
      many.entity("ship", UInt64(number))
      for field in 0..<20 { many.field("f\(field)", Int64(field + 1)) }
    }
    let found = makeReport(describe([20, 20, 20])).differences(from: many)
    #expect(found.count == 32)
    #expect(found.last?.number == 1 && found.last?.field == "f11")
  }

  @Test func `an entity without a counterpart ends the comparison`() {
    let mine = describe([1, 1, 1])
    func presence(_ number: UInt64, theirs: Int64) -> DesyncReport.Difference {
      .init(
        entity: "ship", number: number, field: "presence", mine: Int64(number), theirs: theirs)
    }
    #expect(makeReport(describe([1, 1])).differences(from: mine) == [presence(2, theirs: -1)])
    #expect(makeReport(nil).differences(from: mine) == [presence(0, theirs: -1)])
    #expect(makeReport(describe([1, 2, 1])).differences(from: mine) == [presence(1, theirs: 1)])
    var swapped = SimulationDescription()
    swapped.entity("ship", 7)
    swapped.field("f0", Int64(3))
    #expect(makeReport(swapped).differences(from: mine) == [presence(0, theirs: 7)])
  }

  @Test func `a report is described in one line`() {
    let first = DesyncReport.Difference(
      entity: "puck", number: 2, field: "x", mine: -3, theirs: 4)
    var report = DesyncReport(player: nil, tick: Tick(77), differences: [])
    #expect(report.description == "desync with the server at tick 77")
    report.differences = [first]
    #expect(
      report.description == "desync with the server at tick 77: puck 2, x is -3 here and 4 there")
    report = DesyncReport(player: 3, tick: Tick(77), differences: [first, first, first])
    #expect(
      report.description
        == "desync with player 3 at tick 77: puck 2, x is -3 here and 4 there, and 2 more")
  }

  @Test func `a failed sync test is described in one line`() {
    let difference = DesyncReport.Difference(
      entity: "puck", number: 2, field: "x", mine: -3, theirs: 4)
    let failures = [
      SyncTestFailure(tick: Tick(5), differences: [difference], eventsDiffer: false),
      SyncTestFailure(tick: Tick(5), differences: [], eventsDiffer: true),
      SyncTestFailure(tick: Tick(5), differences: [], eventsDiffer: false),
    ]
    #expect(
      failures.map(\.description) == [
        "tick 5 simulated again: puck 2, x was -3 and is 4",
        "tick 5 emits different events when it is simulated again",
        "tick 5 has a different hash when it is simulated again",
      ])
  }
}

extension VarInt {
  fileprivate static func bytes(_ value: UInt64) -> [UInt8] {
    var writer = PacketWriter()
    writer.writeVarInt(value)
    return writer.bytes
  }
}
