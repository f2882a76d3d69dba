import CaromDNS
import Testing

/// The limits of TXT records, at the limit and one byte beyond (RFC 6763 §6).
@Suite struct TXTLimitTests {
  /// A record with strings of 255 bytes and a last string, of this total length.
  private func makeRecord(length: Int) throws -> TXTRecord {
    var record = TXTRecord()
    let full = length / 256
    for index in 0..<full {
      try record.set("\(index + 10)", to: .bytes([UInt8](repeating: 1, count: 252)))
    }
    let rest = length - 256 * full
    if rest > 0 { try record.set("z", to: .bytes([UInt8](repeating: 1, count: rest - 3))) }
    return record
  }

  @Test func `RFC 6763 §6.1: a string has at most 255 bytes, and a record 8900`() throws {
    var record = TXTRecord()
    try record.set("k", to: .bytes([UInt8](repeating: 1, count: 253)))
    #expect(record.encoded.count == 256 && record.encoded[0] == 255)
    #expect(throws: TXTRecordError.stringTooLong(256)) {
      try record.set("k", to: .bytes([UInt8](repeating: 1, count: 254)))
    }
    let name = String(repeating: "n", count: 255)
    try record.set(name, to: .none)
    #expect(throws: TXTRecordError.stringTooLong(256)) { try record.set(name, to: .bytes([])) }
    var full = try makeRecord(length: 8900)
    let before = full
    #expect(full.length == 8900 && full.encoded.count == 8900)
    #expect(throws: TXTRecordError.recordTooLong(8902)) { try full.set("x", to: .none) }
    #expect(throws: TXTRecordError.recordTooLong(8901)) {
      try full.set("z", to: .bytes([UInt8](repeating: 1, count: 8900 - 34 * 256 - 2)))
    }
    #expect(full == before)
    try full.set("z", to: .none)
    #expect(full.length == 34 * 256 + 2)
  }

  @Test(
    arguments: [
      (400, false, false), (401, true, false), (1300, true, false), (1301, true, true),
    ])
  func `RFC 6763 §6.2: over 400 bytes are large, and over 1300 exceed a frame`(
    length: Int, isLarge: Bool, exceedsFrame: Bool
  ) throws {
    let record = try makeRecord(length: length)
    #expect(record.length == length)
    #expect(record.isLarge == isLarge && record.exceedsFrame == exceedsFrame)
  }

  @Test func `RFC 6763 §6.4: a key is printable ASCII without "="`() throws {
    var record = TXTRecord()
    for key in [" ", "~", "a b", "<", ">"] { try record.set(key, to: .none) }
    #expect(record.keys == [" ", "~", "a b", "<", ">"])
    for key in ["\u{1F}", "\u{7F}", "a=b", "\u{80}"] {
      #expect(throws: TXTRecordError.invalidKey(key)) { try record.set(key, to: .none) }
    }
    let strings: [[UInt8]] = [[0x1F], [0x7F, 0x3D], [0x20], [0x7E], [0x80]]
    let read = TXTRecord(decoding: strings.flatMap { [UInt8($0.count)] + $0 })
    #expect(read.keys == [" ", "~"])
  }

  @Test func `RFC 6763 §6.4: a value may contain "=" and bytes that are not text`() {
    let strings: [[UInt8]] = [Array("a=b=c".utf8), [0x62, 0x3D, 0xFF], [0x63, 0x3D]]
    let read = TXTRecord(decoding: strings.flatMap { [UInt8($0.count)] + $0 } + [3, 0x64])
    #expect(read.keys == ["a", "b", "c"])
    #expect(read["a"] == "b=c" && read["b"] == nil && read["c"] == "")
    #expect(read.value(for: "b") == .bytes([0xFF]))
  }

  @Test func `a changed value keeps its position, whatever the key's case`() throws {
    var record: TXTRecord = ["a": "1", "b": "2", "c": "3"]
    try record.set("B", to: .bytes([0x34]))
    #expect(record.count == 3 && record["b"] == "4")
    #expect(record.encoded == Array("\u{3}a=1\u{3}B=4\u{3}c=3".utf8))
    record.remove("A")
    record.remove("absent")
    #expect(record.keys == ["B", "c"])
    let removed = try #require(TXTRecord(decoding: record.encoded).value(for: "C"))
    #expect(removed == .bytes([0x33]))
  }

  @Test func `RFC 6763 §6.7: a record is understood within the range, ends included`() {
    let plain: TXTRecord = ["seats": "1/2"]
    #expect(plain.understood(by: 1...1) == plain && plain.understood(by: 2...3).isEmpty)
    #expect(plain.understood(by: 2...3, default: 2) == plain)
    for (version, isUnderstood) in [(1, false), (2, true), (3, true), (4, false)] {
      var text: TXTRecord = ["seats": "1/2", "TxtVers": "9"]
      text.version = version
      #expect(text.keys == ["txtvers", "seats"] && text.version == version)
      #expect(text.understood(by: 2...3, default: 2) == (isUnderstood ? text : [:]))
    }
  }
}
