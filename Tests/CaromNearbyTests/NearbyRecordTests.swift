import CaromCore
import CaromDNS
import Testing

@testable import CaromNearby

@Suite struct NearbyRecordTests {
  private let id = PeerID(high: 0x1234_5678_9ABC_DEF0, low: 2)

  @Test func `a record carries the peer's id, its name and the application's pairs`() throws {
    let record = NearbyRecord(id: id, name: "Maya", info: ["level": "3", "map": "rink"])
    let text = try record.text
    #expect(text.keys == ["txtvers", "id", "name", "level", "map"])
    #expect(NearbyRecord(text) == record)
  }

  @Test func `the application cannot replace the format's keys`() throws {
    let record = NearbyRecord(
      id: id, name: "Maya", info: ["ID": "0", "txtvers": "9", "Name": "Leo", "level": "3"])
    let text = try record.text
    #expect(text.keys == ["txtvers", "id", "name", "level"])
    #expect(NearbyRecord(text)?.id == id)
    #expect(NearbyRecord(text)?.name == "Maya")
  }

  private static let foreign: [TXTRecord] = [
    ["txtvers": "2", "id": "00000000000000010000000000000002", "name": "Maya"],
    ["txtvers": "1", "name": "Maya"],
    ["txtvers": "1", "id": "7", "name": "Maya"],
    ["txtvers": "1", "id": "00000000000000010000000000000002"],
    [
      "txtvers": "1", "id": "00000000000000010000000000000002",
      "name": String(repeating: "m", count: 64),
    ],
    [:],
  ]

  @Test(arguments: foreign)
  func `a record of another version, or without an id or a name, is none`(text: TXTRecord) {
    #expect(NearbyRecord(text) == nil)
  }

  @Test func `a service's name is the peer's name and a part of its id, in 63 bytes`() {
    #expect(
      NearbyRecord(id: id, name: "Maya", info: [:]).serviceName == "Maya 123456789abcdef0")
    let long = NearbyRecord(id: id, name: String(repeating: "é", count: 31), info: [:])
    #expect(long.serviceName.utf8.count <= 63)
    #expect(long.serviceName.hasSuffix("é 123456789abcdef0"))
  }
}
