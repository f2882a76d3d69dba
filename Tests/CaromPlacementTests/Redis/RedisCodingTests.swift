import CaromCore
import Testing

@testable import CaromPlacement

@Suite struct RedisCodingTests {
  private static let fleet = MatchID("rack-1")!

  @Test func `a record comes back, and a part of it does not`() throws {
    let endpoints = [
      Endpoint(.v4(0x0A00_0001), port: 7_777), Endpoint(.v6(high: 1, low: 2, scope: 0), port: 1),
    ]
    let record = HostRecord(
      key: HostRecord.make(1).key, endpoints: endpoints, region: "eu", game: .hockey,
      seats: HostRecord.seatLimit)
    let bytes = record.encoded
    #expect(bytes.count == 32 + 1 + 7 + 19 + 3 + 11 + 2 + 2)
    #expect(try HostRecord(decoding: bytes.span) == record)
    for length in bytes.indices {
      let part = Array(bytes.prefix(length))
      #expect(throws: DecodeError.self) { try HostRecord(decoding: part.span) }
    }
    for (index, value) in [(32, 0), (32, 7), (33, 5), (60, 0x20)] as [(Int, UInt8)] {
      var wrong = bytes
      wrong[index] = value
      #expect(throws: DecodeError.self, "byte \(index)") { try HostRecord(decoding: wrong.span) }
    }
  }

  @Test func `the routing of a host stands behind its endpoints`() throws {
    let plain = HostRecord.make(1)
    let record = HostRecord(
      key: plain.key, endpoints: plain.endpoints, routing: try .suffix([5, 6]), region: "eu",
      game: .hockey, seats: 8)
    var bytes = record.encoded
    #expect(bytes[32] == 17 && bytes[40..<43] == [130, 5, 6])
    #expect(try HostRecord(decoding: bytes.span) == record)
    #expect(record.doors == [RoutedEndpoint(plain.endpoints[0], routing: record.routing)])
    bytes[40] = 0
    #expect(throws: DecodeError.self) { try HostRecord(decoding: bytes.span) }
    for count: UInt8 in [16, 23, 33, 129] {
      bytes[32] = count
      #expect(throws: DecodeError.self) { try HostRecord(decoding: bytes.span) }
    }
  }

  @Test func `a command is a call of the function with the fleet's keys`() {
    let request = PlacementRequest(
      .match(1), players: [.player(1)], game: .hockey, near: ["eu", "us"])
    let arguments = RedisCommand.arguments(.place(request), fleet: Self.fleet)
    #expect(
      arguments.map { String(decoding: $0, as: UTF8.self) } == [
        "FCALL", "carom_fleet_3", "1", "carom:{rack-1}:", "place", "match-10001", "air-hockey 1",
        "eu us", "", PeerID.player(1).description,
      ])
    var keyed = request
    keyed.key = .key(1)
    let registration = HostRegistration(.make(1), keys: .keys(1, 2))
    let sender = CommandSender(HostRecord.make(1).id, run: 1, connection: 1)
    let register = RedisCommand.arguments(
      .host(.register(registration), from: sender), fleet: Self.fleet)
    let keys = "\(KeyFingerprint.key(1)) \(KeyFingerprint.key(2))"
    #expect(String(decoding: register[9], as: UTF8.self) == keys)
    let withKey = RedisCommand.arguments(.place(keyed), fleet: Self.fleet)
    #expect(String(decoding: withKey[8], as: UTF8.self) == KeyFingerprint.key(1).description)
    #expect(
      String(decoding: RedisCommand.encode(.status, fleet: Self.fleet), as: UTF8.self)
        == "*5\r\n$5\r\nFCALL\r\n$13\r\ncarom_fleet_3\r\n$1\r\n1\r\n$15\r\ncarom:{rack-1}:\r\n"
        + "$6\r\nstatus\r\n")
  }

  @Test func `an error of the server is told with its message`() {
    let value = RESPValue.error(Array("OOM no memory".utf8))
    #expect(throws: RedisAnswerError.failed(message: "OOM no memory")) {
      try RedisAnswer.decode(value, to: .status)
    }
  }

  @Test func `an answer that the function does not give is refused`() {
    func text(_ text: String) -> RESPValue { .bulkString(Array(text.utf8)) }
    let host = HostRecord.make(1)
    let sender = CommandSender(host.id, run: 1, connection: 1)
    let registration = HostRegistration(host)
    let record = RESPValue.bulkString(host.encoded)
    let stranger = text(PeerID.player(1).description)
    let claim = RESPValue.array([text("m"), text("1")])
    let wrong: [RESPValue] = [
      .null, .integer(1), .array([]), .array([text("dome")]), .array([text("placed")]),
      .array([text("placed"), text("m"), stranger, text("1"), record]),
      .array([text("placed"), text("m m"), text(host.id.description), text("1"), record]),
      .array([text("placed"), text("m"), text(host.id.description), text("-1"), record]),
      .array([
        text("placed"), text("m"), text(host.id.description), text("9007199254740993"), record,
      ]),
      .array([text("refused"), text("why")]), .array([text("over"), .null]),
      .array([text("over"), .bulkString([UInt8](repeating: 0, count: 8_193))]),
      .array([text("resumed"), .array([text("1")]), .array([])]),
      .array([text("renewed"), .integer(-1), .array([])]),
      .array([text("renewed"), .integer(0), .array(Array(repeating: claim, count: 65))]),
      .array([text("registered"), .array([.array([.integer(0)])]), .array([])]),
      .array([text("doors"), .array([text("host")])]), .array([text("doors"), record]),
      .array([text("doors"), .array(Array(repeating: record, count: 7))]),
      .array([text("status"), .array([.array([record])]), .integer(0), .integer(0)]),
    ]
    for value in wrong {
      for command in [HostCommand.register(registration), .renew(HostLoad())] {
        #expect(throws: RedisAnswerError.self, "\(value)") {
          try RedisAnswer.decode(value, to: .host(command, from: sender))
        }
      }
    }
    #expect(throws: RedisAnswerError.self) {
      try RedisAnswer.decode(.array([text("renewed"), .integer(0), .array([])]), to: .status)
    }
  }
}
