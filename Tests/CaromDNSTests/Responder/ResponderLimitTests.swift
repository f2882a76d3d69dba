import CaromCore
import Testing

@testable import CaromDNS

/// Every table of the responder is limited, and reaching a limit does not trap.
@Suite struct ResponderLimitTests {
  private func makeResponder(prefixLength: Int = 24) -> Responder {
    var responder = Responder(hostLabel: "host", generator: SeededGenerator(seed: 1))
    let address = Link.Address(.v4(0x0A00_0001), prefixLength: prefixLength)
    responder.setLink(Link(index: 2, addresses: [address]), at: .zero)
    return responder
  }

  private func run(_ responder: inout Responder, until end: Instant) {
    while let next = responder.nextTimeout, next <= end { responder.handleTimeout(at: next) }
    while responder.pollTransmit() != nil {}
    while responder.pollEvent() != nil {}
  }

  private func makeDatagram(from host: UInt32 = 9) -> Datagram {
    Datagram(
      [], from: Endpoint(.v4(0x0A00_0000 | host), port: 5353), to: MulticastGroup.v4, interface: 2)
  }

  @Test func `a responder publishes 1024 services, and one more throws an error`() throws {
    var responder = makeResponder()
    for index in 0..<1024 {
      _ = try responder.publish(
        Registration(instance: "\(index)", type: "_x._tcp", port: 1), at: .zero)
    }
    let more = Registration(instance: "more", type: "_x._tcp", port: 1)
    #expect(throws: PublicationError.tooMany) { try responder.publish(more, at: .zero) }
    run(&responder, until: .zero + .seconds(3))
    responder.withdrawAll(at: .zero + .seconds(3))
    #expect(throws: Never.self) { try responder.publish(more, at: .zero + .seconds(4)) }
    #expect(responder.links[0].owned.count == 0)
  }

  @Test func `pending answers are limited by the number of records, not of queries`() throws {
    var responder = makeResponder()
    for index in 0..<20 {
      _ = try responder.publish(
        Registration(instance: "\(index)", type: "_x._tcp", port: 1), at: .zero)
    }
    run(&responder, until: .zero + .seconds(5))
    var now = Instant.zero + .seconds(6)
    var query = Message()
    query.questions = [Question("_x._tcp.local", .ptr), Question("_x._tcp.local", .any)]
    for host in 0..<2000 as Range<UInt32> {
      responder.handleQuery(query, from: makeDatagram(from: host % 200), at: now)
      let pending = responder.links[0].batches.reduce(0) { $0 + $1.slots.count }
      #expect(pending <= 2 * responder.links[0].owned.count)
      #expect(responder.links[0].batches.count <= 130)
      now = now.advanced(by: .microseconds(100))
      while let next = responder.nextTimeout, next <= now { responder.handleTimeout(at: next) }
    }
    #expect(responder.timers.count <= 64)
  }

  @Test func `the number of remembered replaced records is limited`() throws {
    var responder = makeResponder()
    let id = try responder.publish(
      Registration(instance: "x", type: "_x._tcp", port: 1), at: .zero)
    for index in 0..<Responder.echoLimit + 100 {
      try responder.update(id, text: ["n": "\(index)"], at: .zero)
    }
    #expect(responder.replacedRecords.count == Responder.echoLimit)
    try responder.update(id, text: ["n": "later"], at: .zero + .seconds(4))
    #expect(responder.replacedRecords.count < 10)
  }

  @Test func `endless known-answer packets do not accumulate state`() throws {
    var responder = makeResponder()
    _ = try responder.publish(Registration(instance: "x", type: "_x._tcp", port: 1), at: .zero)
    run(&responder, until: .zero + .seconds(5))
    var now = Instant.zero + .seconds(6)
    var query = Message()
    query.questions = [Question("_x._tcp.local", .ptr)]
    query.isTruncated = true
    for index in 0..<20_000 as Range<UInt32> {
      responder.handleQuery(query, from: makeDatagram(from: index % 65_536), at: now)
      now = now.advanced(by: .microseconds(100))
      while let next = responder.nextTimeout, next <= now { responder.handleTimeout(at: next) }
      while responder.pollTransmit() != nil {}
    }
    #expect(responder.links[0].requests.count <= AnswerRequest.querierLimit)
    #expect(responder.timers.count <= 2 * AnswerRequest.querierLimit)
    run(&responder, until: now + .seconds(2))
    #expect(responder.links[0].requests.isEmpty)
  }

  @Test func `256 queriers wait for a unicast answer, and one more gets a multicast`() throws {
    var responder = makeResponder(prefixLength: 16)
    _ = try responder.publish(Registration(instance: "x", type: "_x._tcp", port: 1), at: .zero)
    run(&responder, until: .zero + .seconds(5))
    let now = Instant.zero + .seconds(6)
    var query = Message()
    query.questions = [Question("_x._tcp.local", .ptr, wantsUnicast: true)]
    for index in 0..<UInt32(AnswerRequest.querierLimit) {
      responder.handleQuery(query, from: makeDatagram(from: 100 + index), at: now)
      #expect(responder.links[0].requests.count == Int(index) + 1)
    }
    responder.handleQuery(query, from: makeDatagram(from: 99), at: now)
    #expect(responder.links[0].requests.count == AnswerRequest.querierLimit)
  }

  @Test func `a record slot can be reused many times`() {
    var owned = OwnedRecords()
    for index in 0..<100 as Range<UInt32> {
      let record = OwnedRecord(
        record: Record("a.local", .address(.v4(index)), timeToLive: 120), role: .unique)
      owned.insert([record, record], announcedAt: .zero)
      let first = owned.remove([record])
      owned.markSent(0, at: .zero)
      let second = owned.remove([record])
      #expect(first.isEmpty && second == [record])
      #expect(owned.slots(of: "a.local").isEmpty && owned[0] == nil)
    }
    #expect(owned.count == 0)
  }
}
