import CaromCore
import CaromDNS
import Testing

/// The tests of Apple's Bonjour Conformance Test for a device that has claimed its names.
extension ConformanceSuite {
  private static let pointer = Question(SimulatedNetwork.type.name(), .ptr)
  private static let types = Question("_services._dns-sd._udp.local", .ptr)
  private static let service = Question(instance, .srv)

  private static func makeSettled(_ start: Start = .fresh) -> SimulatedNetwork {
    var network = makeStarting(start)
    network.run(for: .seconds(5))
    network.log = []
    return network
  }

  @Test func `SIMPLE REPLY VERIFICATION`() throws {
    for question in [Question(Self.host, .a), Self.service, Question(Self.instance, .txt)] {
      var network = Self.makeSettled()
      let answer = try #require(network.answers(to: [question]).first)
      let bytes = answer.transmit.payload
      #expect(bytes[0..<4] == [0, 0, 0x84, 0] && bytes[4..<6] == [0, 0])
      #expect(answer.message.answers.map(\.key) == [question.key])
      #expect(answer.transmit.destination == MulticastGroup.v4)
    }
  }

  @Test func `SIMPLE REPLY RESPONSE TIME`() throws {
    for question in [Question(Self.host, .a), Self.service] {
      var network = Self.makeSettled()
      let start = network.now
      #expect(try #require(network.answers(to: [question]).first).at - start <= .milliseconds(10))
    }
  }

  /// The delays of shared answers, in milliseconds.
  private static func waits(_ questions: [Question], count: Int) -> [Double] {
    var network = makeSettled()
    return (0..<count).map { _ in
      network.run(for: .seconds(2))
      let start = network.now + network.delay
      return network.answers(to: questions).first.map { ($0.at - start).inMilliseconds } ?? -1
    }
  }

  @Test func `SHARED REPLY TIMING`() {
    let waits = Self.waits([Self.pointer], count: 400)
    #expect(waits.allSatisfy { $0 >= 20 && $0 <= 120 })
  }

  @Test func `UNIFORM RANDOM DISTRIBUTION`() {
    // Each quarter expects 100 of 400 with a standard deviation of 8.7. The bounds allow 4.5
    // deviations.
    var quarters = [0, 0, 0, 0]
    for wait in Self.waits([Self.pointer], count: 400) {
      quarters[min(3, Int(wait - 20) / 25)] += 1
    }
    #expect(quarters.allSatisfy { (61...139).contains($0) })
  }

  @Test func `MULTIPLE QUESTIONS: SHARED REPLY TIMING`() {
    let waits = Self.waits([Self.pointer, Self.types, Self.service], count: 100)
    #expect(waits.allSatisfy { $0 >= 20 && $0 <= 120 })
    #expect(Set(waits.map { Int($0 - 20) / 25 }).count == 4)
  }

  @Test func `MULTIPLE QUESTIONS: DUPLICATE SUPPRESSION`() {
    var network = Self.makeSettled()
    let known = Record(SimulatedNetwork.type.name(), .pointer(Self.instance), timeToLive: 4500)
    let answers = network.answers(to: [Self.pointer, Self.types], known: [known])
    #expect(answers.flatMap(\.message.answers).map(\.name) == [Self.types.key.name])
  }

  @Test func `MULTIPLE QUESTIONS: DISTRIBUTED DUPLICATE SUPPRESSION`() {
    var network = Self.makeSettled()
    let known = [
      Record(Self.types.key.name, .pointer(SimulatedNetwork.type.name()), timeToLive: 4500),
      Record(SimulatedNetwork.type.name(), .pointer(Self.instance), timeToLive: 4500),
    ]
    for (index, record) in known.enumerated() {
      var part = SimulatedNetwork.makeQuery(
        index == 0 ? [Self.pointer, Self.types] : [], known: [record])
      part.isTruncated = index == 0
      network.inject(part, from: 9)
      network.run(for: .milliseconds(100))
    }
    network.run(for: .seconds(2))
    #expect(network.log.isEmpty)
  }

  @Test func `REPLY AGGREGATION`() {
    var network = Self.makeSettled()
    for question in [Self.pointer, Self.types] {
      network.inject(SimulatedNetwork.makeQuery([question]), from: 9)
      network.run(for: .milliseconds(5))
    }
    network.run(for: .seconds(1))
    #expect(network.log.count == 1)
    #expect(network.log.flatMap(\.message.answers).count == 2)
  }

  @Test func `MANUAL NAME CHANGE`() {
    var network = SimulatedNetwork()
    network.addNode(1)
    let id = network.publish(0)
    network.run(for: .seconds(5))
    network.log = []
    network.rename(0, id, to: "New - Bonjour")
    network.run(for: .seconds(5))
    let kinds = network.log.map { packet in
      !packet.message.isResponse
        ? "probe" : packet.message.answers[0].timeToLive == 0 ? "goodbye" : "announce"
    }
    #expect(kinds == ["goodbye", "probe", "probe", "probe", "announce", "announce"])
    let new = SimulatedNetwork.makeInstance("New - Bonjour")
    #expect(network.log[0].message.answers.contains { $0.data == .pointer(Self.instance) })
    #expect(network.log[4].message.answers.contains { $0.data == .pointer(new) })
    #expect(network.answers(to: [Self.service]).isEmpty)
    #expect(network.answers(to: [Question(new, .srv)]).count == 1)
  }

  @Test func `HOT-PLUGGING`() {
    // Every probing test also runs after a cable change. This one checks that no answer is sent
    // before the names are claimed again.
    var network = Self.makeStarting(.replugged)
    network.inject(SimulatedNetwork.makeQuery([Self.service]), from: 9)
    network.run(for: .milliseconds(500))
    #expect(network.packets(0, responses: true).isEmpty && !network.probes(0).isEmpty)
    network.run(for: .seconds(5))
    #expect(network.answers(to: [Self.service]).count == 1)
    #expect(network.names(0).isEmpty && network.nodes[0].machine.hostName == Self.host)
  }

  @Test func `CABLE CHANGE`() {
    // Moves to another network, where the address is different and the name is taken.
    var network = SimulatedNetwork()
    network.addNode(1)
    network.addNode("rival", [SimulatedNetwork.makeAttachment(1, 2, 9)])
    network.publish(1)
    network.publish(0)
    network.run(for: .seconds(5))
    #expect(network.names(0) == ["Maya's table"])
    network.setLinks(0, [])
    network.run(for: .seconds(2))
    network.log = []
    network.setLinks(0, [SimulatedNetwork.makeAttachment(1, 2, 1)])
    network.run(for: .seconds(5))
    #expect(network.names(0) == ["Maya's table", "Maya's table (2)"])
    #expect(network.sentRecords(0).contains { $0.data == .address(.v4(0x0A00_0101)) })
    #expect(!network.sentRecords(0).contains { $0.data == .address(.v4(0x0A00_0001)) })
  }

  @Test func `NO DUPLICATE RECORDS IN PACKETS`() {
    var network = SimulatedNetwork()
    network.addNode(1, dualStack: true)
    for index in 0..<30 {
      var service = SimulatedNetwork.makeService("\(index)")
      service.subtypes = ["_a", "_b"]
      network.publish(0, service)
    }
    network.run(for: .seconds(5))
    let any = Question(SimulatedNetwork.type.name(), .any)
    _ = network.answers(to: [Self.pointer, any, Self.types, Self.pointer])
    _ = network.answers(to: [
      Question(SimulatedNetwork.makeInstance("7"), .any), Question(Self.host, .any),
    ])
    network.with(0) { $0.withdrawAll(at: $1) }
    for packet in network.log {
      let records = packet.message.answers + packet.message.additionals
      #expect(Set(records.map(\.identity)).count == records.count)
      #expect(
        Set(packet.message.authorities.map(\.identity)).count == packet.message.authorities.count)
    }
  }

  @Test func `REQUIRED ADDITIONAL RECORDS IN ANSWERS`() throws {
    let expected: [(Question, [RecordType])] = [
      (Self.pointer, [.srv, .txt, .a, .nsec]), (Self.service, [.a, .nsec]),
      (Question(Self.host, .a), [.nsec]), (Self.types, []),
    ]
    for (question, types) in expected {
      var network = Self.makeSettled()
      let answer = try #require(network.answers(to: [question]).first)
      #expect(answer.message.additionals.map(\.type) == types)
    }
  }

  @Test func `LEGAL CHARACTERS IN ADDRESS RECORD NAMES`() {
    for label in [
      "Maya's Mac \u{1F3D2}", "", "-.-", String(repeating: "x", count: 80), "a_b", "été",
    ] {
      var network = SimulatedNetwork()
      network.addNode(1, name: label)
      network.addNode(2, name: label)
      var unique = SimulatedNetwork.makeService("5b9c3f8e")
      unique.isUnique = true
      for (node, service) in [
        (0, SimulatedNetwork.makeService()), (1, SimulatedNetwork.makeService("B")), (0, unique),
      ] {
        network.publish(node, service)
      }
      network.run(for: .seconds(10))
      let names = Set(
        (network.sentRecords(0) + network.sentRecords(1)).filter { $0.type == .a }.map(\.name))
      #expect(names.count >= 3)
      for name in names {
        let text = name.labels[0]
        let isLegal = text.allSatisfy { byte in
          let scalar = Unicode.Scalar(byte)
          return ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar)
            || ("0"..."9").contains(scalar) || scalar == "-"
        }
        #expect(isLegal && text.first != 45 && text.last != 45)
      }
    }
  }

  @Test func `CACHE FLUSH BIT SET IN NON-SHARED RESPONSES`() {
    var network = Self.makeStarting(.fresh)
    network.run(for: .seconds(5))
    for question in [Self.pointer, Self.service, Question(Self.host, .aaaa)] {
      network.inject(SimulatedNetwork.makeQuery([question]), from: 9)
      network.run(for: .seconds(2))
    }
    #expect(network.sentRecords(0).count >= 15)
    #expect(network.sentRecords(0).allSatisfy { $0.flushesCache == ($0.type != .ptr) })
  }

  @Test func `CACHE FLUSH BIT NOT SET IN PROPOSED ANSWER OF PROBES`() {
    var network = Self.makeStarting(.fresh)
    network.run(for: .seconds(5))
    #expect(network.probes(0).flatMap(\.message.authorities).count == 9)
    #expect(network.probes(0).flatMap(\.message.authorities).allSatisfy { !$0.flushesCache })
  }

  @Test func `CACHE FLUSH BIT NOT SET IN UNICAST RESPONSE`() {
    var network = Self.makeSettled()
    for question in [Self.service, Question(Self.host, .a), Self.pointer] {
      #expect(network.answers(to: [question], port: 40_000).count == 1)
      #expect(network.sentRecords(0).allSatisfy { !$0.flushesCache })
    }
  }

  @Test func `UNICAST INTEROPERABILITY`() throws {
    var network = Self.makeSettled()
    var query = SimulatedNetwork.makeQuery([Self.service])
    query.id = 0xBEEF
    network.inject(query, from: 9, port: 40_000)
    network.run(for: .milliseconds(10))
    let answer = try #require(network.log.first)
    #expect(answer.transmit.destination == Endpoint(.v4(0x0A00_0009), port: 40_000))
    #expect(answer.message.id == 0xBEEF && answer.message.questions == query.questions)
    let records = answer.message.answers + answer.message.additionals
    #expect(records.map(\.type) == [.srv, .a])
    #expect(records.allSatisfy { $0.timeToLive <= 10 })
    // The SRV record's target is not compressed.
    #expect(answer.transmit.payload.filter { $0 == UInt8(ascii: "1") }.count == 1)
    // A missing type of an owned name gets an empty response.
    let empty = try #require(network.answers(to: [Question(Self.host, .aaaa)], port: 40_000).first)
    #expect(empty.message.answers.isEmpty)
  }

  @Test func `CHATTINESS`() {
    var network = SimulatedNetwork()
    network.addNode(1)
    network.addNode(2)
    network.publish(0)
    network.browse(0)
    network.publish(1, "Leo's table")
    network.run(for: .seconds(8000))
    network.log = []
    network.run(for: .seconds(6 * 3600))
    // One query an hour, and the responses to it.
    let asked = network.packets(0, responses: false)
    #expect(asked.count <= 6 && network.packets(1, responses: false).isEmpty)
    for answer in network.log where answer.message.isResponse {
      #expect(asked.contains { (.zero ... .seconds(1)).contains(answer.at - $0.at) })
    }
    #expect(network.log.count <= 3 * 6)
  }
}
