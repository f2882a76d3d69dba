import CaromCore
import CaromDNS
import Testing

@Suite struct FormatTests {
  @Test func `R20: an NSEC record names itself and lists only block 0 without NSEC`() throws {
    var (network, _) = SimulatedNetwork.makePublished()
    let answer = try #require(
      network.answers(to: [Question(SimulatedNetwork.makeInstance(), .a)]).first)
    let record = try #require(answer.message.answers.first)
    #expect(record.data == .types(next: SimulatedNetwork.makeInstance(), [.txt, .srv]))
    #expect(record.data.uncompressed.suffix(7) == [0, 5, 0, 0, 0x80, 0, 0x40])
    #expect(record.timeToLive == 4500 && record.flushesCache)
    let host = try #require(network.answers(to: [Question("host1.local", .txt)]).first)
    #expect(host.message.answers.first?.timeToLive == 120)
    #expect(network.answers(to: [Question(SimulatedNetwork.type.name(), .txt)]).isEmpty)
  }

  @Test func `R64: published names are sent in composed UTF-8 and are otherwise unchanged`() {
    let decomposed = "Cafe\u{301} \u{1100}\u{1161}"
    var (network, _) = SimulatedNetwork.makePublished(1, SimulatedNetwork.makeService(decomposed))
    let pointers = network.sentRecords(0).compactMap { record in
      if case .pointer(let name) = record.data { name } else { nil }
    }
    #expect(pointers[0].labels[0] == Array("Caf\u{E9} \u{AC00}".utf8))
    #expect(
      !network.answers(to: [Question(SimulatedNetwork.makeInstance("CAF\u{E9} \u{AC00}"), .srv)])
        .isEmpty)
    #expect(
      network.answers(to: [Question(SimulatedNetwork.makeInstance("CAF\u{C9} \u{AC00}"), .srv)])
        .isEmpty)
    let marked = SimulatedNetwork.makeInstance("\u{FEFF}x")
    #expect(marked.labels[0] == [0xEF, 0xBB, 0xBF, 0x78])
    #expect(marked != SimulatedNetwork.makeInstance("x"))
    #expect(Name("b\u{FC}cher.local").labels[0] == Array("b\u{FC}cher".utf8))
  }

  @Test func `R64: decomposed and invalid UTF-8 in received names is preserved`() throws {
    let name = try Name(labels: [Array("e\u{301}".utf8) + [0xFF], Array("local".utf8)])
    let message = SimulatedNetwork.makeQuery([Question(name, .a)])
    let read = try Message(decoding: message.encoded())
    #expect(read.questions[0].key.name.labels[0] == [0x65, 0xCC, 0x81, 0xFF])
  }

  @Test func `R65: messages fit the link's MTU`() {
    for (mtu, dual, limit) in [
      (nil, true, 1452), (1280, true, 1232), (1280, false, 1252),
      (9000, false, 1472), (65_536, true, 1452),
    ] as [(Int?, Bool, Int)] {
      var network = SimulatedNetwork()
      var attachment = SimulatedNetwork.makeAttachment(0, 2, 1, dualStack: dual)
      attachment.link.mtu = mtu
      network.addNode("host", [attachment])
      for index in 0..<60 { network.publish(0, "service \(index)") }
      network.run(for: .seconds(5))
      network.with(0) { $0.withdrawAll(at: $1) }
      let sizes = network.log.map(\.transmit.payload.count)
      #expect(sizes.allSatisfy { $0 <= limit })
      #expect(sizes.contains { $0 > limit * 3 / 4 })
    }
  }

  @Test
  func `R65 R75: a record larger than a frame is sent alone, and one over 9000 bytes is refused`()
    throws
  {
    var service = SimulatedNetwork.makeService()
    for index in 0..<20 {
      try service.text.set("k\(index)", to: .bytes([UInt8](repeating: 1, count: 200)))
    }
    var (network, _) = SimulatedNetwork.makePublished(1, service)
    #expect(network.names(0) == ["Maya's table"])
    for packet in network.log where packet.transmit.payload.count > 1452 {
      let records = packet.message.answers + packet.message.authorities
      #expect(records.contains { $0.type == .txt })
      #expect(packet.transmit.payload.count <= 8952)
      #expect(packet.message.answers.count <= 1)
    }
    service.instance = String(repeating: "n", count: 63)
    for index in 0..<22 {
      try service.text.set("m\(index)", to: .bytes([UInt8](repeating: 1, count: 204)))
    }
    try service.text.set(
      "rest", to: .bytes([UInt8](repeating: 1, count: 8890 - 6 - service.text.length)))
    #expect(service.text.length == 8890)
    #expect(throws: PublicationError.textTooLong(8890)) {
      try network.with(0) { try $0.publish(service, at: $1) }
    }
  }

  @Test(arguments: [0x0800, 0x2800, 0x0001, 0x0003, 0x000F] as [UInt16])
  func `R66: a message with a nonzero opcode or response code is ignored`(bits: UInt16) {
    var (network, _) = SimulatedNetwork.makePublished()
    network.log = []
    var bytes = SimulatedNetwork.makeQuery([Question(SimulatedNetwork.makeInstance(), .srv)])
      .encoded()
    bytes[2] |= UInt8(bits >> 8)
    bytes[3] |= UInt8(truncatingIfNeeded: bits)
    network.inject(bytes, from: Endpoint(.v4(0x0A00_0009), port: 5353))
    network.run(for: .seconds(1))
    #expect(network.log.isEmpty)
    #expect(network.nodes[0].machine.counters.notStandard == 1)
  }

  @Test func `R67: other header bits and the ID are ignored on receipt and sent as zero`() {
    var (network, _) = SimulatedNetwork.makePublished()
    var bytes = SimulatedNetwork.makeQuery([Question(SimulatedNetwork.makeInstance(), .srv)])
      .encoded()
    // Set the ID and the AA, RD, RA, Z, AD and CD bits.
    bytes[0] = 0x12
    bytes[2] |= 0x05
    bytes[3] |= 0xF0
    network.inject(bytes, from: Endpoint(.v4(0x0A00_0009), port: 5353))
    network.run(for: .milliseconds(10))
    #expect(network.log.count == 6)
    for packet in network.log {
      let header = packet.transmit.payload[0..<4]
      #expect(header == (packet.message.isResponse ? [0, 0, 0x84, 0] : [0, 0, 0, 0]))
    }
    var answer = SimulatedNetwork.makeResponse([
      Record(SimulatedNetwork.makeInstance(), .text([1, 65]), timeToLive: 120)
    ])
    answer.id = 99
    bytes = answer.encoded()
    bytes[2] = 0x83
    bytes[3] = 0xF0
    network.inject(bytes, from: Endpoint(.v4(0x0A00_0042), port: 5353))
    network.run(for: .seconds(1))
    #expect(network.probes(0).count == 6)
  }

  @Test func `R68: names in data of unknown types are not compressed or expanded`() throws {
    let mail = RecordData.raw(RecordType(rawValue: 15), [0, 1] + Name("host.local").wire + [0])
    let records = [
      Record("host.local", mail, timeToLive: 1),
      Record("host.local", .raw(RecordType(rawValue: 15), [0, 1, 0xC0, 12]), timeToLive: 1),
    ]
    let bytes = SimulatedNetwork.makeResponse(records).encoded()
    #expect(bytes.count == 12 + 12 + 10 + 14 + 12 + 4)
    #expect(try Message(decoding: bytes).answers == records)
    for type in [RecordType.cname, .ns] {
      let head: [UInt8] = [0, 0, 0x84, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 97, 0, 0]
      let compressed = head + [UInt8(type.rawValue), 0, 1, 0, 0, 0, 9, 0, 4, 1, 98, 0xC0, 12]
      #expect(
        try Message(decoding: compressed).answers[0].data == .raw(type, [1, 98, 1, 97, 0]))
    }
  }

  @Test func `R71 R72: a service has one SRV record with priority and weight 0, and a TXT record`()
  {
    var service = SimulatedNetwork.makeService()
    service.text = [:]
    let (network, _) = SimulatedNetwork.makePublished(1, service)
    let data = network.sentRecords(0).map(\.data)
    #expect(
      data.contains(.service(priority: 0, weight: 0, port: 7777, target: "host1.local")))
    #expect(data.contains(.text([0])))
  }

  @Test func `R75: a TXT record over 400 bytes is large, and one over 1300 exceeds a frame`() throws
  {
    var text = TXTRecord()
    var marks: [String] = []
    for index in 1...14 {
      try text.set("k\(index % 10)\(index / 10)", to: .bytes([UInt8](repeating: 0, count: 96)))
      #expect(text.length == text.encoded.count && text.length == 101 * index)
      marks.append(text.exceedsFrame ? "frame" : text.isLarge ? "large" : "fine")
    }
    #expect(marks.prefix(3) == ["fine", "fine", "fine"])
    #expect(marks[3...11].allSatisfy { $0 == "large" })
    #expect(marks.suffix(2) == ["frame", "frame"])
  }

  @Test func `R76: the version comes first, and records of unknown versions read as empty`() throws
  {
    var text: TXTRecord = ["seats": "1/2", "later": "?"]
    #expect(text.version == nil && text.understood(by: 1...1) == text)
    text.version = 2
    #expect(text.keys == ["txtvers", "seats", "later"] && text.version == 2)
    #expect(text.understood(by: 1...2) == text)
    #expect(text.understood(by: 1...1).isEmpty)
    text["txtvers"] = "two"
    #expect(text.understood(by: 1...9).isEmpty)
    text.version = nil
    #expect(text.keys == ["seats", "later"])
  }

  @Test func `R78: a subtype may have any bytes and leads to the same instance`() throws {
    var service = SimulatedNetwork.makeService()
    service.subtypes = ["_ranked", "a.b \u{1F3D2}"]
    var (network, _) = SimulatedNetwork.makePublished(1, service)
    for subtype in service.subtypes {
      let name = try SimulatedNetwork.type.name().prefixed(by: "_sub").prefixed(by: subtype)
      let answer = try #require(network.answers(to: [Question(name, .ptr)]).first).message
      #expect(answer.answers.map(\.data) == [.pointer(SimulatedNetwork.makeInstance())])
      #expect(answer.additionals.map(\.type) == [.srv, .txt, .a, .nsec])
      network.run(for: .seconds(2))
    }
    let many = (0..<65).map { "_\($0)" }
    service.subtypes = many
    #expect(throws: PublicationError.subtypes(65)) {
      try network.with(0) { try $0.publish(service, at: $1) }
    }
  }

  @Test func `R80: an SRV answer carries its host's addresses`() throws {
    var (network, _) = SimulatedNetwork.makePublished(1, dualStack: true)
    let answer = try #require(
      network.answers(to: [Question(SimulatedNetwork.makeInstance(), .srv)]).first
    ).message
    #expect(answer.additionals.map(\.type) == [.a, .aaaa])
  }
}
