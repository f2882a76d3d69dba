import Carom
import CaromDNS
import Testing

/// The TXT record of an advertised match.
@Suite struct SightingTests {
  private static let id = PeerID(high: 0x0123_4567_89AB_CDEF, low: 0xFEDC_BA98_7654_3210)
  private static let digits = "0123456789abcdeffedcba9876543210"

  private static let names: [(Sighting.Status, String)] = [
    (Sighting.Status.searching, "searching"), (.waiting, "waiting"), (.hosting, "hosting"),
    (.playing, "playing"),
  ]

  @Test(arguments: names)
  func `a record has a version, the peer's id, its status and its free seats`(
    status: Sighting.Status, name: String
  ) {
    for free in [0, 1, 255] {
      let sighting = Sighting(id: Self.id, status: status, freeSeats: free)
      let record: TXTRecord = [
        "txtvers": "1", "id": Self.digits, "status": name, "free": "\(free)",
      ]
      #expect(sighting.text == record)
      #expect(Sighting(record) == sighting)
    }
  }

  @Test func `a record may have the host's public key, as 64 digits`() throws {
    let digits = String(repeating: "0123456789abcdef", count: 4)
    var record = Sighting(id: Self.id, status: .hosting, freeSeats: 1).text
    #expect(record.hostKey == nil)
    record.hostKey = PublicKey(digits)
    #expect(record["key"] == digits && record.hostKey == PublicKey(digits))
    #expect(Sighting(record)?.id == Self.id)
    for text in ["", "0123", digits + "0", String(digits.dropLast()) + "g"] {
      record["key"] = text
      #expect(record.hostKey == nil)
    }
    record.hostKey = nil
    #expect(!record.keys.contains("key"))
  }

  private static let invalid: [(String, String)] = [
    ("txtvers", "2"), ("txtvers", ""), ("id", "0123"), ("id", digits + "0"),
    ("id", "g123456789abcdeffedcba9876543210"), ("status", "idle"), ("status", ""),
    ("free", "-1"), ("free", "256"), ("free", ""), ("free", "one"),
  ]

  @Test(arguments: invalid)
  func `a record of another version, or with an invalid or missing value, is no sighting`(
    key: String, value: String
  ) {
    var values = ["txtvers": "1", "id": Self.digits, "status": "waiting", "free": "1"]
    #expect(Sighting(Self.record(values)) != nil)
    values[key] = value
    #expect(Sighting(Self.record(values)) == nil)
    values[key] = nil
    #expect(Sighting(Self.record(values)) == nil)
  }

  private static func record(_ values: [String: String]) -> TXTRecord {
    var record = TXTRecord()
    for (key, value) in values { record[key] = value }
    return record
  }
}
