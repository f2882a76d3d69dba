import CaromCore
import Testing

@testable import CaromDNS

/// The parts of names, and how questions and records are matched.
@Suite struct NamePartTests {
  @Test func `a name has labels, a first label and a parent, up to the root`() {
    var name: Name = "Maya\\.s._x.local"
    var texts: [String] = []
    while name != .root {
      texts.append(name.firstLabel)
      name = name.parent
    }
    #expect(texts == ["Maya.s", "_x", "local"])
    #expect(Name.root.parent == .root && Name.root.firstLabel == "" && Name.root.labels == [])
    #expect(("a.b" as Name).labels == [[97], [98]] && ("a.b" as Name).wire == [1, 97, 1, 98])
  }

  @Test(
    arguments: [
      ("a._x._tcp.local", "_x._tcp.local", "a"), ("a.b._x._tcp.local", "_X._TCP.local", "a.b"),
      ("a.b", "_x._tcp.local", "a"), ("_x._tcp.local", "_x._tcp.local", "_x"), ("a", ".", "a"),
      ("ax._tcp", "x._tcp", "ax"),
    ] as [(Name, Name, String)])
  func `the labels before a type are one text, and else the first label`(
    name: Name, suffix: Name, text: String
  ) {
    #expect(name.prefix(before: suffix) == text)
  }

  @Test(
    arguments: [
      ("a.example", "example", true), ("a.EXAMPLE", "example", true), ("example", "example", true),
      ("example", "a.example", false), ("aexample", "example", false),
      ("b.example", "a.example", false),
      ("a", ".", true), (".", ".", true), (".", "a", false),
    ] as [(Name, Name, Bool)])
  func `a name is within itself and the domains above it`(
    name: Name, domain: Name, isWithin: Bool
  ) {
    #expect(name.isWithin(domain) == isWithin)
  }

  @Test(
    arguments: [
      ([.a], [0, 1, 0x40]), ([.a, .aaaa], [0, 4, 0x40, 0, 0, 8]), ([], [0, 1, 0]),
      ([.txt, .srv], [0, 5, 0, 0, 0x80, 0, 0x40]),
      ([.any], [0, 32] + [UInt8](repeating: 0, count: 31) + [1]),
      ([RecordType(rawValue: 256), .a], [0, 1, 0x40]),
    ] as [([RecordType], [UInt8])])
  func `RFC 6762 §6.1: a bitmap has window block 0, without zeros at its end`(
    types: [RecordType], bitmap: [UInt8]
  ) {
    #expect(RecordData.bitmap(of: types) == bitmap)
  }

  @Test func `RFC 6762 §6.5: a question's type and class may be any, and its name any case`() {
    let record = Record("Host.local", .address(.v4(1)), timeToLive: 1)
    let rows: [(Name, RecordType, UInt16, Bool)] = [
      ("host.LOCAL", .a, 1, true), ("host.local", .any, 1, true), ("host.local", .a, 255, true),
      ("host.local", .any, 255, true), ("host.local", .aaaa, 1, false),
      ("host.local", .a, 3, false),
      ("other.local", .a, 1, false), ("local", .any, 255, false),
    ]
    for (name, type, questionClass, isAnswered) in rows {
      let question = Question(name, type, questionClass: questionClass)
      #expect(question.isAnswered(by: record) == isAnswered, "\(name) \(type) \(questionClass)")
    }
  }

  @Test func `neither the life nor the cache-flush bit belong to a record's identity`() {
    let record = Record("host.local", .address(.v4(1)), timeToLive: 1)
    let same = Record("HOST.local", .address(.v4(1)), timeToLive: 9, flushesCache: true)
    #expect(record.identity == same.identity && record.key == same.key && record != same)
    let other = Record("host.local", .address(.v4(2)), timeToLive: 1)
    #expect(record.identity != other.identity && record.key == other.key)
  }
}
