import CaromDNS
import Testing

/// Domain names at their limits, their text, and which of them are link-local.
@Suite struct NameRuleTests {
  @Test func `RFC 1035 §2.3.4: a name has at most 255 bytes with its length bytes`() throws {
    let label = [UInt8](repeating: 97, count: 63)
    let fits = try Name(labels: [label, label, label, [UInt8](repeating: 97, count: 61)])
    #expect(fits.wire.count == 254)
    #expect(throws: NameError.nameTooLong(256)) {
      try Name(labels: [label, label, label, [UInt8](repeating: 97, count: 62)])
    }
    #expect(throws: NameError.nameTooLong(257)) { try fits.prefixed(by: "a") }
    #expect(throws: NameError.emptyLabel) { try fits.parent.prefixed(by: "") }
    #expect(throws: NameError.labelTooLong(64)) {
      try Name.root.prefixed(by: String(repeating: "a", count: 64))
    }
  }

  @Test func `names differ if any one of their bytes does`() throws {
    let text = "abcdefghijklmnopqrstuvwxyz"
    let name = try Name(labels: [Array(text.utf8), Array("local".utf8)])
    for index in 0..<26 {
      var bytes = Array(text.utf8)
      bytes[index] = 0x30
      let other = try Name(labels: [bytes, Array("local".utf8)])
      #expect(other != name && other == other)
    }
    #expect(Name("ABCDEFGHIJKLMNOPQRSTUVWXYZ.Local") == name)
    #expect(Set([name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ.LOCAL", "abc.local"]).count == 2)
    // The same bytes, divided into other labels.
    #expect(try Name(labels: [[97, 1, 98]]) != Name(labels: [[97], [98]]))
    #expect(Name("a.local") != Name("local") && Name("a.local") != Name("a"))
  }

  @Test(
    arguments: [
      ("local", true), ("LOCAL", true), ("a.b.local", true), ("local.example", false),
      ("xlocal", false), (".", false), ("254.169.in-addr.arpa", true),
      ("1.2.254.169.in-addr.arpa", true), ("169.in-addr.arpa", false),
      ("255.169.in-addr.arpa", false), ("0.8.e.f.ip6.arpa", true), ("9.e.f.ip6.arpa", true),
      ("a.e.f.ip6.arpa", true), ("b.e.f.ip6.arpa", true), ("c.e.f.ip6.arpa", false),
      ("7.e.f.ip6.arpa", false), ("e.f.ip6.arpa", false), ("10.in-addr.arpa", false),
    ] as [(Name, Bool)])
  func `RFC 6762 §4: only .local and link-local reverse names are link-local`(
    name: Name, isLinkLocal: Bool
  ) {
    #expect(name.isLinkLocal == isLinkLocal)
  }

  @Test(
    arguments: [
      ([0x1F], "\\031"), ([0x20], " "), ([0x7E], "~"), ([0x7F], "\\127"), ([0x00], "\\000"),
      ([0x80], "\\128"), ([0xC3, 0xA9], "é"), ([0xC3, 0xA9, 0xFF], "\\195\\169\\255"),
      (Array("a.b\\".utf8), "a\\.b\\\\"), ([0x09, 0x22], "\\009\""),
    ] as [([UInt8], String)])
  func `RFC 6763 §4.3: text and labels are written and read alike`(label: [UInt8], text: String)
    throws
  {
    let name = try Name(labels: [label])
    #expect(name.description == text)
    #expect(try Name(text: text).wire == name.wire)
    #expect(try Name(text: text + ".").wire == name.wire)
  }

  @Test func `any character may follow a backslash, and numbers go up to 255`() throws {
    #expect(try Name(text: "\\a\\ b\\255\\0000").labels == [Array("a b".utf8) + [255, 0, 0x30]])
    for text in ["\\", "\\1", "\\12", "\\12a", "\\256", "\\999"] {
      #expect(throws: NameError.badEscape) { try Name(text: text) }
    }
    for text in ["..", ".a", "a..", "a..b"] {
      #expect(throws: NameError.emptyLabel) { try Name(text: text) }
    }
    #expect(try Name(text: "") == .root && Name.root.parent == .root)
    #expect(Name.root.firstLabel == "" && Name.root.isLinkLocal == false)
    #expect(Name("a.b.c").parent.parent == "c" && Name("a.b.c").firstLabel == "a")
  }

  @Test(
    arguments: [
      ("", "host"), ("---", "host"), ("é", "host"), ("Maya's Mac", "Maya-s-Mac"), ("-a-", "a"),
      ("a_b..c", "a-b-c"), ("9", "9"), (String(repeating: "a", count: 64), nil),
      (String(repeating: "a", count: 62) + "-b", String(repeating: "a", count: 62)),
    ] as [(String, String?)])
  func `RFC 1123 §2.1: a host label has letters, digits and inner hyphens, at most 63`(
    text: String, label: String?
  ) {
    #expect(
      InstanceName.hostLabel(from: text) == label ?? String(repeating: "a", count: 63))
  }

  @Test(
    arguments: [
      ("X", "X (2)"), ("X (1)", "X (1) (2)"), ("X (0)", "X (0) (2)"), ("X(2)", "X(2) (2)"),
      ("X (2) ", "X (2)  (2)"), ("X ()", "X () (2)"), (" (2)", " (2) (2)"), ("X (99)", "X (100)"),
      ("X (999999)", "X (1000000)"), ("X (1000000)", "X (1000000) (2)"),
      (String(repeating: "x", count: 63), String(repeating: "x", count: 59) + " (2)"),
      (String(repeating: "x", count: 59) + " (9)", String(repeating: "x", count: 58) + " (10)"),
    ])
  func `RFC 6763 appendix D: a name that is taken counts up`(name: String, next: String) {
    #expect(InstanceName.successor(of: name) == next)
  }

  @Test(
    arguments: [
      ("host", "host-2"), ("host-1", "host-1-2"), ("host-2", "host-3"), ("host-9", "host-10"),
      ("host2", "host2-2"), ("a-b", "a-b-2"),
      (String(repeating: "x", count: 63), String(repeating: "x", count: 61) + "-2"),
    ])
  func `RFC 6762 §9: a host name that is taken counts up`(label: String, next: String) {
    #expect(InstanceName.hostSuccessor(of: label) == next)
  }

  @Test func `RFC 6763 §4.1.1: an instance name has at most 63 bytes, measured when composed`() {
    #expect(throws: Never.self) { try InstanceName.validate(String(repeating: "x", count: 63)) }
    #expect(throws: InstanceNameError.tooLong(64)) {
      try InstanceName.validate(String(repeating: "x", count: 64))
    }
    // 31 letters with a combining accent each are 93 bytes, and 62 when composed.
    #expect(throws: Never.self) {
      try InstanceName.validate(String(repeating: "e\u{301}", count: 31))
    }
    #expect(throws: InstanceNameError.controlCharacter) { try InstanceName.validate("a\u{1F}b") }
    #expect(throws: Never.self) { try InstanceName.validate(" ~") }
  }
}
