import CaromDNS
import Testing

@Suite struct NameTests {
  @Test(arguments: [
    "Maya's table", "l’été", "a.b", "back\\slash", "🏒 table", "Go. 2 \\ é",
    String(repeating: "x", count: 63), "tab\u{7f}", "1.2", "\\065",
  ])
  func `R69 R70: an instance name can be written as text and parsed again`(label: String) throws {
    let name = try ServiceType("_airhockey._tcp").name().prefixed(by: label)
    #expect(try Name(text: name.description) == name)
    #expect(name.firstLabel == label)
    #expect(name.labels.count == 4)
  }

  @Test func `R64: names are equal regardless of ASCII case only`() {
    let name: Name = "Host.LOCAL"
    #expect(name == "host.local")
    #expect(name.hashValue == Name("host.local").hashValue)
    #expect(Name("É.local") != Name("é.local"))
    #expect(Name("@.local") != Name("`.local"))
    #expect(Name("[.local") != Name("{.local"))
  }

  @Test func `a label has at most 63 bytes and a name at most 255`() {
    let label = [UInt8](repeating: 97, count: 63)
    #expect(throws: NameError.labelTooLong(64)) { try Name(labels: [label + [97]]) }
    #expect(throws: NameError.emptyLabel) { try Name(labels: [[97], []]) }
    #expect(throws: NameError.nameTooLong(257)) { try Name(labels: [label, label, label, label]) }
    #expect(throws: NameError.emptyLabel) { try Name(text: "a..b") }
    for text in ["a\\", "a\\2", "a\\25x", "a\\256"] {
      #expect(throws: NameError.badEscape) { try Name(text: text) }
    }
  }

  @Test func `R70: special characters are escaped`() throws {
    #expect(try Name(labels: [Array("a.b\\c".utf8)]).description == "a\\.b\\\\c")
    #expect(try Name(labels: [[0xFF, 7]]).description == "\\255\\007")
    #expect(Name.root.description == "." && Name(".").labels.isEmpty)
    #expect(Name("a.b.").parent == "b")
  }

  @Test func `R69: instance names have 1 to 63 bytes and no control characters`() {
    #expect(throws: Never.self) { try InstanceName.validate(String(repeating: "é", count: 31)) }
    #expect(throws: InstanceNameError.tooLong(64)) {
      try InstanceName.validate(String(repeating: "é", count: 32))
    }
    #expect(throws: InstanceNameError.empty) { try InstanceName.validate("") }
    for name in ["a\u{0}", "\u{1F}", "x\u{7F}"] {
      #expect(throws: InstanceNameError.controlCharacter) { try InstanceName.validate(name) }
    }
  }
}
