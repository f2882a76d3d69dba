import CaromDNS
import Testing

@Suite struct TXTRecordTests {
  @Test func `R74: an absent key, no value, an empty value and a value are distinct`() throws {
    var record = TXTRecord()
    try record.set("flag", to: .none)
    try record.set("empty", to: .bytes([]))
    try record.set("seats", to: .bytes(Array("1/2".utf8)))
    #expect(record.encoded == Array("\u{4}flag\u{6}empty=\u{9}seats=1/2".utf8))
    let read = TXTRecord(decoding: record.encoded)
    #expect(read == record)
    #expect(read.value(for: "absent") == nil)
    #expect(read.value(for: "flag") == TXTRecord.Content.none)
    #expect(read.value(for: "empty") == .bytes([]))
    #expect(read["SEATS"] == "1/2" && read["flag"] == nil && read["empty"] == "")
  }

  @Test func `R73: the first of equal keys is used, and strings without a key are skipped`() {
    let strings = ["a=1", "=x", "A=2", "", "b"].map { Array($0.utf8) }
    let record = TXTRecord(decoding: strings.flatMap { [UInt8($0.count)] + $0 })
    #expect(record.keys == ["a", "b"])
    #expect(record["a"] == "1")
    #expect(TXTRecord(decoding: [9, 97]).isEmpty)
  }

  @Test func `R72: an empty record is encoded as one zero byte`() {
    #expect(TXTRecord().encoded == [0])
    #expect(TXTRecord(decoding: [0]) == TXTRecord() && TXTRecord(decoding: []) == TXTRecord())
  }

  @Test func `R73 R75: each violated limit throws its own error`() {
    var record: TXTRecord = ["a": "1", "b": "2", "A": "3"]
    #expect(record.description == "a=1 b=2" && record.count == 2)
    #expect(throws: TXTRecordError.emptyKey) { try record.set("", to: .none) }
    #expect(throws: TXTRecordError.invalidKey("k=")) { try record.set("k=", to: .none) }
    #expect(throws: TXTRecordError.invalidKey("é")) { try record.set("é", to: .none) }
    let long = [UInt8](repeating: 1, count: 254)
    #expect(throws: TXTRecordError.stringTooLong(256)) { try record.set("k", to: .bytes(long)) }
    #expect(throws: TXTRecordError.recordTooLong(8933)) {
      for index in 0..<40 { try record.set("k\(index + 10)", to: .bytes(long.dropLast(4))) }
    }
    #expect(record.count == 36)
    record["B"] = nil
    #expect(record.keys.first == "a" && record.value(for: "b") == nil)
  }
}
