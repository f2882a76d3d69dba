import CaromDNS
import Testing

@testable import carom_tool

/// Tests of the text that the tool writes.
struct ToolTextTests {
  private static let written: [(RecordData, String)] = [
    (.address(.v4(0x0A00_0001)), "10.0.0.1"),
    (.pointer("a\\.b._x._tcp.local"), "a\\.b._x._tcp.local"),
    (.service(priority: 1, weight: 2, port: 3, target: "h.local"), "1 2 3 h.local"),
    (.text(strings), #""a=b" "" "\"\\\007\255""#),
    (.types(next: "h.local", [.a, .aaaa, RecordType(rawValue: 99)]), "h.local A AAAA TYPE99"),
    (.raw(.cname, [1, 0x61, 3, 0x2E, 0x62, 0x5C, 0]), "a.\\.b\\\\"),
    (.raw(RecordType(rawValue: 13), [0x0A, 0xFF]), "\\# 2 0aff"),
  ]
  private static let strings: [UInt8] = [
    3, 0x61, 0x3D, 0x62, 0, 4, 0x22, 0x5C, 7, 0xFF,
  ]

  @Test func `records are written as in zone files`() {
    for (data, text) in Self.written { #expect(RecordText.text(of: data) == text) }
  }

  @Test func `types are read by name and by number`() {
    #expect(RecordText.type("srv") == .srv)
    #expect(RecordText.type("TYPE47") == .nsec && RecordText.type("47") == .nsec)
    #expect(RecordText.type("TYPE65536") == nil && RecordText.type("") == nil)
    #expect(RecordText.name(of: RecordType(rawValue: 4711)) == "TYPE4711")
  }

  @Test func `JSON escapes all characters that control a terminal`() {
    let value = JSONValue.object([
      .init("a\"b", .string("\\\u{1B}\u{9B}\u{202E}\u{E0001}é🏒")), .init("n", .null),
      .init("l", .array([.number(-1), .strings(["x"])])),
    ])
    #expect(
      value.text == #"{"a\"b":"\\\u001b\u009b\u202e\udb40\udc01é🏒","n":null,"l":[-1,["x"]]}"#)
  }

  @Test func `a table fits into the terminal, regardless of its cells`() {
    var table = LiveTable(["NAME", "TXT"])
    for index in (0..<10).reversed() {
      table.apply(Report(.added, "\(index)", cells: ["日本 \(index)\n", "k=v"], []))
    }
    let first = table.drawn(columns: 20, rows: 8)
    let lines = first.split(separator: "\n")
    #expect(lines.count == 6 && lines[0] == "NAME         TXT")
    #expect(lines[1] == "日本 0\\u{A}  k=v" && lines[5] == "… and 6 more")
    for index in 1..<10 { table.apply(Report(.removed, "\(index)", cells: ["", ""], [])) }
    table.apply(Report(.updated, "0", cells: ["a", String(repeating: "x", count: 30)], []))
    let second = table.drawn(columns: 20, rows: 8)
    #expect(second == "\u{1B}[6F\u{1B}[0JNAME  TXT\na     xxxxxxxxxxxx…\n")
  }
}
