import CaromCore
import CaromDNS
import Testing

@Suite struct MessageTests {
  private func makeMessage() -> Message {
    var message = Message(id: 7, isResponse: true)
    let instance: Name = "Maya's \\. table._airhockey._tcp.local"
    message.questions = [Question("_airhockey._tcp.local", .ptr, wantsUnicast: true)]
    message.answers = [
      Record("_airhockey._tcp.local", .pointer(instance), timeToLive: 4500),
      Record(
        instance, .service(priority: 1, weight: 2, port: 7777, target: "host.local"),
        timeToLive: 120, flushesCache: true),
    ]
    message.authorities = [
      Record(instance, .text([3, 97, 61, 98]), timeToLive: 4500),
      Record("host.local", .address(.v4(0x0A00_0001)), timeToLive: 120),
    ]
    message.additionals = [
      Record(
        "host.local", .address(.v6(high: 0xFE80 << 48, low: 1, scope: 0)), timeToLive: 120,
        flushesCache: true),
      Record("host.local", .types(next: "host.local", [.a, .aaaa]), timeToLive: 120),
      Record("host.local", .raw(RecordType(rawValue: 13), [1, 2, 3]), timeToLive: 1),
    ]
    return message
  }

  @Test func `a decoded message equals the encoded one`() throws {
    let message = makeMessage()
    #expect(try Message(decoding: message.encoded()) == message)
  }

  @Test func `R68: names are compressed, including those in PTR, SRV and NSEC data`() {
    let message = makeMessage()
    let bytes = message.encoded()
    #expect(bytes.count == 188)
    let text = { (bytes: [UInt8]) in String(decoding: bytes, as: UTF8.self) }
    #expect(text(bytes).split(separator: "airhockey").count == 2)
    #expect(text(message.encoded(compressesTargets: false)).split(separator: "host").count == 2)
    #expect(message.encoded(compressesTargets: false).count == bytes.count + 5)
  }

  @Test func `every truncated message throws an error`() {
    let bytes = makeMessage().encoded()
    for count in 0..<bytes.count {
      #expect(throws: DecodeError.self) { try Message(decoding: Array(bytes[..<count])) }
    }
  }

  /// A message with a header for one question, or for `answers` records, followed by `body`.
  private func makeQuery(_ body: [UInt8], answers: UInt8 = 0) -> [UInt8] {
    [0, 0, 0, 0, 0, answers == 0 ? 1 : 0, 0, answers, 0, 0, 0, 0] + body
  }

  @Test func `compression pointers must lead backwards`() {
    let tail: [UInt8] = [0, 1, 0, 1]
    for pointer in [[0xC0, 12], [0xC0, 13], [0xC0, 200], [0xC0, 0], [1, 97, 0xC0, 12]] as [[UInt8]]
    {
      #expect(throws: DecodeError.invalid(what: "compression pointer")) {
        try Message(decoding: makeQuery(pointer + tail))
      }
    }
    #expect(throws: DecodeError.invalid(what: "label type")) {
      try Message(decoding: makeQuery([0x80, 0] + tail))
    }
  }

  @Test func `a name over 255 bytes is refused`() {
    let label = [63] + [UInt8](repeating: 97, count: 63)
    let fits = [61] + [UInt8](repeating: 97, count: 61)
    let name = label + label + label + fits + [0]
    #expect(name.count == 255)
    #expect(throws: Never.self) { try Message(decoding: makeQuery(name + [0, 1, 0, 1])) }
    let long = label + label + label + [62] + fits[1...] + [97, 0]
    #expect(throws: DecodeError.invalid(what: "name length")) {
      try Message(decoding: makeQuery(long + [0, 1, 0, 1]))
    }
  }

  @Test func `a record with malformed data is left out without affecting the next one`() throws {
    let good: [UInt8] = [1, 97, 0, 0, 1, 0, 1, 0, 0, 0, 9, 0, 4, 10, 0, 0, 1]
    let head: [UInt8] = [1, 97, 0]
    let bad: [[UInt8]] = [
      head + [0, 1, 0, 1, 0, 0, 0, 9, 0, 3, 10, 0, 0],  // A of three bytes
      head + [0, 1, 0, 1, 0, 0, 0, 9, 0, 5, 10, 0, 0, 1, 1],  // A of five bytes
      head + [0, 12, 0, 1, 0, 0, 0, 9, 0, 1, 1],  // PTR that runs out of its data
      head + [0, 16, 0, 1, 0, 0, 0, 9, 0, 2, 5, 1],  // TXT string that runs out of it
      head + [0, 47, 0, 1, 0, 0, 0, 9, 0, 4, 0, 0, 40, 1],  // NSEC bitmap that does
      head + [0, 47, 0, 1, 0, 0, 0, 9, 0, 7, 0, 0, 1, 64, 0, 1, 64],  // one with a window twice
      head + [0, 33, 0, 1, 0, 0, 0, 9, 0, 5, 0, 0, 0, 0, 0],  // SRV without target
    ]
    for record in bad {
      let message = try Message(decoding: makeQuery(record + good, answers: 2))
      #expect(message.answers.map(\.data) == [.address(.v4(0x0A00_0001))])
    }
  }

  @Test func `R72: an empty TXT record reads as one empty string`() throws {
    let bytes: [UInt8] = [1, 97, 0, 0, 16, 0, 1, 0, 0, 0, 9, 0, 0]
    #expect(try Message(decoding: makeQuery(bytes, answers: 1)).answers[0].data == .text([0]))
  }

  @Test func `names that compression pointers multiply are limited in total length`() {
    let label = [63] + [UInt8](repeating: 97, count: 63)
    var bytes: [UInt8] = [0, 0, 0, 0, 1, 0x90, 0, 0, 0, 0, 0, 0] + label + label + label
    bytes += [0, 0, 1, 0, 1]
    for _ in 0..<399 { bytes += [0xC0, 12, 0, 1, 0, 1] }
    #expect(throws: DecodeError.self) { try Message(decoding: bytes) }
  }

  @Test func `a message over 9000 bytes is refused`() {
    #expect(throws: DecodeError.tooLarge(length: 9001, limit: 9000)) {
      try Message(decoding: [UInt8](repeating: 0, count: 9001))
    }
  }

  @Test func `mutated messages never trap, and decoded ones can be encoded again`() throws {
    #if DEBUG
      let rounds = 5000
    #else
      let rounds = 100_000
    #endif
    var generator = SeededGenerator(seed: 20_260_101)
    let seeds = [makeMessage().encoded(), SimulatedNetwork.makeProbeBytes()]
    for _ in 0..<rounds {
      var bytes = seeds[Int.random(in: 0..<2, using: &generator)]
      for _ in 0..<Int.random(in: 1...6, using: &generator) {
        bytes[Int.random(in: 0..<bytes.count, using: &generator)] =
          UInt8.random(in: 0...255, using: &generator)
      }
      if generator.chance(0.2) { bytes.removeLast(Int.random(in: 0..<60, using: &generator)) }
      guard let message = try? Message(decoding: bytes) else { continue }
      try #require(try Message(decoding: message.encoded()) == message)
    }
  }

  @Test func `mutated packets never trap a running node`() {
    #if DEBUG
      let rounds = 500
    #else
      let rounds = 20_000
    #endif
    var generator = SeededGenerator(seed: 5353)
    var network = SimulatedNetwork()
    network.addNode(1)
    network.publish(0)
    network.browse(0)
    network.run(for: .seconds(5))
    let seeds = network.log.map(\.transmit.payload)
    for _ in 0..<rounds {
      var bytes = seeds[Int.random(in: seeds.indices, using: &generator)]
      for _ in 0..<Int.random(in: 1...8, using: &generator) {
        bytes[Int.random(in: 2..<bytes.count, using: &generator)] =
          UInt8.random(in: 0...255, using: &generator)
      }
      network.inject(bytes, from: Endpoint(.v4(0x0A00_0007), port: 5353))
      network.run(for: .milliseconds(1))
      network.log = []
    }
  }
}

extension SimulatedNetwork {
  /// The bytes of a probe for a host and a service.
  static func makeProbeBytes() -> [UInt8] {
    var network = SimulatedNetwork()
    network.addNode(1, dualStack: true)
    network.publish(0)
    network.run(for: .seconds(1))
    return network.log[0].transmit.payload
  }
}
