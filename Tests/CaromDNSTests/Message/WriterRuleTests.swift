import CaromCore
import Testing

@testable import CaromDNS

/// What a message holds when it is full, and which names in it are compressed.
@Suite struct WriterRuleTests {
  private func makeAddress(_ name: Name) -> Record {
    Record(name, .address(.v4(0x0A00_0001)), timeToLive: 120)
  }

  @Test func `a message may be exactly as long as its limit`() {
    let question = Question("host.local", .a)
    let record = makeAddress("host.local")
    for (limit, fits) in [
      (27, [false, false]), (28, [true, false]), (43, [true, false]), (44, [true, true]),
    ] {
      var writer = MessageWriter(id: 0, flags: 0, limit: limit)
      #expect(writer.isEmpty)
      #expect([writer.append(question), writer.append(record, to: .answer)] == fits)
      #expect(writer.isEmpty == !fits[0] && writer.bytes.count <= limit)
    }
  }

  @Test func `a set of records is written whole or not at all`() throws {
    let records = (0..<3).map { Record("h.local", .address(.v4($0)), timeToLive: 120) }
    var writer = MessageWriter(id: 0, flags: 0x8400, limit: 12 + 23 + 16)
    let fits = [
      writer.append(records[...], to: .additional), writer.append(records[..<2], to: .additional),
    ]
    #expect(fits == [false, true])
    #expect(try Message(decoding: writer.bytes).additionals == Array(records[..<2]))
  }

  @Test func `each section has its own count`() throws {
    var writer = MessageWriter(id: 0, flags: 0, limit: 9000)
    _ = writer.append(Question("a.local", .any))
    for (section, count) in [(Message.Section.answer, 2), (.authority, 3), (.additional, 257)] {
      for _ in 0..<count { _ = writer.append(makeAddress("a.local"), to: section) }
    }
    #expect(writer.bytes[4..<12] == [0, 1, 0, 2, 0, 3, 1, 1])
    #expect(writer.bytes[2] == 0)
    writer.markTruncated()
    #expect(try Message(decoding: writer.bytes).isTruncated)
  }

  @Test func `R68: a name beyond the reach of compression pointers is written in full`() throws {
    var message = Message(isResponse: true)
    for index in 0..<3 {
      let name = try Name(text: "filler\(index)")
      message.answers.append(
        Record(name, .text([UInt8](repeating: 0, count: 8000)), timeToLive: 120))
    }
    message.answers += [makeAddress("late.example"), makeAddress("late.example")]
    let bytes = message.encoded()
    #expect(bytes.count > 0x4000)
    #expect(try Message(decoding: bytes, limit: Message.maximumStreamLength) == message)
  }

  @Test func `R64 R68: a name is compressed only to one with the same bytes`() throws {
    var message = Message(isResponse: true)
    let names: [Name] = ["Host.local", "host.local", "host.Local", "host.local"]
    message.answers = names.map(makeAddress)
    let bytes = message.encoded()
    #expect(try Message(decoding: bytes).answers.map(\.name.wire) == names.map(\.wire))
    #expect(bytes.count == 12 + 4 * 14 + (12 + 7 + 12 + 2))
  }

  @Test func `RFC 6762 §18.14: a legacy querier gets SRV targets without compression`() throws {
    var (network, _) = SimulatedNetwork.makePublished()
    let packet = try #require(
      network.answers(to: [Question(SimulatedNetwork.makeInstance(), .srv)], port: 40_000).first)
    #expect(packet.message.answers.map(\.type) == [.srv])
    let label = [5] + Array("local".utf8)
    let count = packet.transmit.payload.indices.count {
      packet.transmit.payload[$0...].starts(with: label)
    }
    // The question's name and the target.
    #expect(count == 2)
  }

  @Test(
    arguments: [
      (.address(.v4(0x0A00_0102)), [10, 0, 1, 2]), (.pointer("a.b"), [1, 97, 1, 98, 0]),
      (
        .service(priority: 0x0102, weight: 0x0304, port: 0x0506, target: "h"),
        [1, 2, 3, 4, 5, 6, 1, 104, 0]
      ),
      (.text([1, 97]), [1, 97]), (.raw(RecordType(rawValue: 13), [7]), [7]),
      (
        .types(next: "h", [.a, .nsec, RecordType(rawValue: 256)]),
        [1, 104, 0, 0, 6, 0x40, 0, 0, 0, 0, 1]
      ),
      (.types(next: "h", []), [1, 104, 0, 0, 1, 0]),
    ] as [(RecordData, [UInt8])])
  func `RFC 6762 §8.2: tiebreaks compare uncompressed data`(data: RecordData, bytes: [UInt8]) {
    #expect(data.uncompressed == bytes)
  }
}
