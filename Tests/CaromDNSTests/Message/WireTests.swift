import CaromCore
import Testing

@testable import CaromDNS

/// The exact bytes of messages, and the limits on them (RFC 1035 §4, RFC 6762 §18).
@Suite struct WireTests {
  private static let longLabel = [63] + [UInt8](repeating: 97, count: 63)

  /// A message with a header for these numbers of questions and answers, followed by `body`.
  private func makeBytes(questions: Int = 0, answers: Int = 0, _ body: [UInt8]) -> [UInt8] {
    let counts = [questions, answers].flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
    return [0, 0, 0, 0] + counts + [0, 0, 0, 0] + body
  }

  /// A record named "a" of class IN with a time to live of nine seconds.
  private func makeRecord(_ type: RecordType, _ data: [UInt8]) -> [UInt8] {
    [1, 97, 0, 0, UInt8(type.rawValue), 0, 1, 0, 0, 0, 9, 0, UInt8(data.count)] + data
  }

  @Test func `RFC 1035 §4: every field of a message has its place`() throws {
    var message = Message(id: 0x0102, isResponse: true)
    message.questions = [Question("_x._tcp.local", .ptr, wantsUnicast: true)]
    message.answers = [
      Record("_x._tcp.local", .pointer("a._x._tcp.local"), timeToLive: 4500),
      Record(
        "a._x._tcp.local", .service(priority: 1, weight: 0x0203, port: 7777, target: "h.local"),
        timeToLive: 70_000, flushesCache: true),
    ]
    message.authorities = [Record("h.local", .address(.v4(0x0A00_0001)), timeToLive: 120)]
    message.additionals = [
      Record(
        "h.local", .types(next: "h.local", [.a, .aaaa]), timeToLive: 120, flushesCache: true)
    ]
    let header: [UInt8] = [1, 2, 0x84, 0, 0, 1, 0, 2, 0, 1, 0, 1]
    let question: [UInt8] =
      [2, 0x5F, 0x78, 4, 0x5F, 0x74, 0x63, 0x70, 5, 0x6C, 0x6F, 0x63, 0x61, 0x6C, 0]
      + [0, 12, 0x80, 1]
    let pointer: [UInt8] = [0xC0, 12, 0, 12, 0, 1, 0, 0, 0x11, 0x94, 0, 4, 1, 0x61, 0xC0, 12]
    let service: [UInt8] =
      [0xC0, 43, 0, 33, 0x80, 1, 0, 1, 0x11, 0x70, 0, 10]
      + [0, 1, 2, 3, 0x1E, 0x61, 1, 0x68, 0xC0, 20]
    let address: [UInt8] = [0xC0, 65, 0, 1, 0, 1, 0, 0, 0, 120, 0, 4, 10, 0, 0, 1]
    let denial: [UInt8] =
      [0xC0, 65, 0, 47, 0x80, 1, 0, 0, 0, 120, 0, 8, 0xC0, 65, 0, 4, 0x40, 0, 0, 8]
    let bytes = header + question + pointer + service + address + denial
    #expect(message.encoded() == bytes)
    let read = try Message(decoding: bytes)
    #expect(read == message)
    #expect(read.isResponse && read.isStandard && !read.isTruncated)
  }

  @Test func `RFC 6762 §18: the flags are single bits of the header`() {
    var message = Message()
    #expect(message.flags == 0 && !message.isResponse && !message.isTruncated)
    message.isTruncated = true
    #expect(message.flags == 0x0200 && message.isTruncated)
    message.flags |= 0x8583
    message.isTruncated = false
    #expect(message.flags == 0x8583 && message.isResponse && !message.isTruncated)
    for (flags, isStandard) in [
      (0x87F0, true), (0x8001, false), (0x8008, false), (0x0800, false), (0x4000, false),
    ] as [(UInt16, Bool)] {
      #expect(Message(id: 0, flags: flags).isStandard == isStandard)
    }
  }

  @Test func `a compression pointer may lead to another one`() throws {
    let types: [UInt8] = [0, 1, 0, 1]
    let bytes = makeBytes(
      questions: 4,
      [1, 97, 0] + types + [0xC0, 12] + types + [0xC0, 19] + types + [1, 98, 0xC0, 25] + types)
    let names = try Message(decoding: bytes).questions.map(\.key.name)
    #expect(names == ["a", "a", "a", "b.a"])
    for type: UInt8 in [0x40, 0x7F, 0x80, 0xBF] {
      #expect(throws: DecodeError.invalid(what: "label type")) {
        try Message(decoding: makeBytes(questions: 1, [type, 0, 0, 1, 0, 1]))
      }
    }
  }

  @Test
  func `names expand to at most 65,536 bytes in a datagram, and to eight times that over TCP`()
    throws
  {
    let first = Self.longLabel + Self.longLabel + Self.longLabel + [0, 0, 1, 0, 1]
    let make = { (count: Int) in
      makeBytes(
        questions: count, first + (1..<count).flatMap { _ in [0xC0, 12, 0, 1, 0, 1] as [UInt8] })
    }
    #expect(try Message(decoding: make(330)).questions.count == 330)
    #expect(throws: DecodeError.self) { try Message(decoding: make(345)) }
    let limit = Message.maximumStreamLength
    #expect(try Message(decoding: make(2700), limit: limit).questions.count == 2700)
    #expect(throws: DecodeError.self) { try Message(decoding: make(2720), limit: limit) }
  }

  @Test func `names in malformed data count towards the limit too`() throws {
    let first = Self.longLabel + Self.longLabel + Self.longLabel + [0, 0, 1, 0, 1]
    // A PTR record of the root with a byte after its target.
    let bad: [UInt8] = [0, 0, 12, 0, 1, 0, 0, 0, 9, 0, 3, 0xC0, 12, 1]
    let make = { (count: Int) in
      makeBytes(questions: 1, answers: count, first + (0..<count).flatMap { _ in bad })
    }
    #expect(try Message(decoding: make(330)).answers.isEmpty)
    #expect(throws: DecodeError.self) { try Message(decoding: make(345)) }
  }

  @Test func `a message of 9000 bytes is decoded, and bytes after its records are ignored`() throws
  {
    let bytes = makeBytes(answers: 1, makeRecord(.a, [10, 0, 0, 1]))
    let padded = bytes + [UInt8](repeating: 0xFF, count: 9000 - bytes.count)
    #expect(try Message(decoding: padded).answers.map(\.data) == [.address(.v4(0x0A00_0001))])
    let long = padded + [UInt8](repeating: 0, count: 65_535 - padded.count)
    #expect(
      try Message(decoding: long, limit: Message.maximumStreamLength).answers.count == 1)
    #expect(throws: DecodeError.tooLarge(length: 65_536, limit: 65_535)) {
      try Message(decoding: long + [0], limit: Message.maximumStreamLength)
    }
  }

  @Test(
    arguments: [
      ([0, 1, 0x40], [.a]), ([0, 1, 0x40, 1, 1, 0x08], [.a]), ([0, 1, 0x40, 255, 1, 1], [.a]),
      ([1, 1, 0x40], []), ([], []), ([1, 1, 0x40, 0, 1, 0x40], nil), ([0, 0], nil),
      ([0, 1, 0x40, 0, 1, 0x40], nil), ([0, 33] + [UInt8](repeating: 1, count: 33), nil),
      ([0, 32] + [UInt8](repeating: 0, count: 31) + [1], [.any]),
      ([0, 6, 0x40, 0, 0, 0x08, 0, 1], [.a, .aaaa, .nsec]),
    ] as [([UInt8], [RecordType]?)])
  func `RFC 6762 §6.1: only window block 0 of an NSEC record is read, and all must be well formed`(
    bitmap: [UInt8], types: [RecordType]?
  ) throws {
    let bytes = makeBytes(answers: 1, makeRecord(.nsec, [1, 97, 0] + bitmap))
    let data = try Message(decoding: bytes).answers.map(\.data)
    #expect(data == (types.map { [.types(next: "a", $0)] } ?? []))
  }

  @Test func `data that is longer than its content is malformed`() throws {
    let good = makeRecord(.a, [10, 0, 0, 1])
    let bad = [
      makeRecord(.ptr, [1, 98, 0, 0]), makeRecord(.srv, [0, 0, 0, 0, 0, 7, 0, 0]),
      makeRecord(.cname, [1, 98, 0, 0]), makeRecord(.aaaa, [UInt8](repeating: 0, count: 17)),
      makeRecord(.aaaa, [UInt8](repeating: 0, count: 15)), makeRecord(.txt, [1, 97, 1]),
    ]
    for record in bad {
      let message = try Message(decoding: makeBytes(answers: 2, record + good))
      #expect(message.answers.map(\.data) == [.address(.v4(0x0A00_0001))])
    }
    #expect(throws: DecodeError.self) {
      // The length field leads past the end of the message.
      try Message(decoding: makeBytes(answers: 1, Array(makeRecord(.a, [1, 2, 3, 4]).dropLast())))
    }
  }

  @Test func `the cache-flush bit is no part of a record's class, nor the QU bit of a question's`()
    throws
  {
    var bytes = makeBytes(questions: 1, answers: 1, [1, 97, 0, 0, 1, 0xFF, 0xFF])
    bytes += [1, 97, 0, 0, 1, 0x80, 3, 0x80, 0, 0, 1, 0, 4, 1, 2, 3, 4]
    let message = try Message(decoding: bytes)
    #expect(message.questions[0].wantsUnicast && message.questions[0].questionClass == 0x7FFF)
    #expect(message.answers[0].flushesCache && message.answers[0].recordClass == 3)
    #expect(message.answers[0].timeToLive == 0x8000_0001)
  }
}
