import Foundation
import Testing

/// Each rule finds what it is there to find, and leaves alone what is right.
struct RuleTests {
  func makeFile(_ text: String, at path: String = "Sources/CaromCore/Some.swift") -> SourceFile {
    SourceFile(path: path, text: text)
  }

  func makeFunction(lines: Int, head: String = "  static func long() {") -> String {
    ([head] + Array(repeating: "    work()", count: lines - 2) + ["  }"]).joined(separator: "\n")
  }

  @Test(arguments: [
    ("CaromCore", "import Foundation"), ("CaromCore", "import CaromCodec"),
    ("CaromPhysics", "import CaromCore"), ("CaromDNS", "internal import Synchronization"),
    ("CaromProtocol", "@testable import CaromTransport"),
    ("CaromSimulation", "import struct Glibc.timespec"), ("AirHockey", "import Dispatch"),
    ("CaromTransport", "import CaromDNS"), ("CaromDiscovery", "public import CUVLoop"),
    ("Unheard", "let x = 1"),
  ])
  func `an import against the table is found`(module: String, line: String) {
    let file = makeFile(line, at: "Sources/\(module)/Some.swift")
    #expect(ImportRule.violations(in: file).count == 1)
  }

  @Test(arguments: [
    ("CaromCodec", "import CaromCore"), ("CaromTransport", "import Synchronization"),
    ("CaromTransport", "internal import CUVLoop"), ("air-hockey", "import CaromSession"),
    ("CaromCore", "/// import Foundation"),
  ])
  func `an import by the table passes`(module: String, line: String) {
    let file = makeFile(line, at: "Sources/\(module)/Some.swift")
    #expect(ImportRule.violations(in: file) == [])
  }

  @Test func `a long line, function or file is found`() {
    #expect(LengthRule.violations(in: makeFile(String(repeating: "x", count: 101))).count == 1)
    #expect(LengthRule.violations(in: makeFile(makeFunction(lines: 71))).count == 1)
    let heads = "  func long(\n    a: Int\n  ) {"
    #expect(LengthRule.violations(in: makeFile(makeFunction(lines: 69, head: heads))).count == 1)
    let c = makeFunction(lines: 71, head: "static int f(void)\n{")
      .replacingOccurrences(of: "  }", with: "}")
    #expect(LengthRule.violations(in: makeFile(c, at: "CSources/X/x.c")).count == 1)
    let file = makeFile(String(repeating: "x\n", count: 401))
    #expect(LengthRule.violations(in: file).count == 1)
  }

  @Test func `lines, functions and files at their limits pass`() {
    #expect(LengthRule.violations(in: makeFile(String(repeating: "x", count: 100))) == [])
    #expect(LengthRule.violations(in: makeFile(makeFunction(lines: 70))) == [])
    #expect(LengthRule.violations(in: makeFile(String(repeating: "x\n", count: 400))) == [])
    let protocols = "  func one()\n" + makeFunction(lines: 70, head: "  func two() {")
    #expect(LengthRule.violations(in: makeFile(protocols)) == [])
  }

  @Test func `a word in the wrong place is found`() {
    for word in WordRule.unsafeWords + WordRule.postponed + [WordRule.unchecked] {
      #expect(WordRule.violations(in: makeFile("let x = \(word) y")).count == 1, "\(word)")
    }
    #expect(WordRule.violations(in: makeFile("// \(WordRule.postponed[0]): later")).count == 1)
  }

  @Test func `a word in its place passes`() {
    let pointer = "let x = unsafe y"
    #expect(
      WordRule.violations(in: makeFile(pointer, at: "Sources/CaromTransport/A.swift")) == [])
    #expect(WordRule.violations(in: makeFile("/// Never unsafe.")) == [])
    let reasoned = "// The lock guards it.\nfinal class A: \(WordRule.unchecked) {}"
    #expect(WordRule.violations(in: makeFile(reasoned)) == [])
  }

  @Test func `the formatter finds a badly formatted file`() async throws {
    let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).swift")
    defer { try? FileManager.default.removeItem(at: file) }
    try "func  f( ) {\nlet x=1;}\n".write(to: file, atomically: true, encoding: .utf8)
    #expect(try await Formatter.complaints(about: [file.path]).contains("error"))
  }

  @Test func `a type of a later folder is found, and one of an earlier folder passes`() {
    let wire = makeFile("struct Frame {}", at: "Sources/CaromProtocol/Wire/Frame.swift")
    let host = makeFile(
      "struct Host { let frame: Frame }", at: "Sources/CaromProtocol/Host/Host.swift")
    #expect(FolderRule.violations(in: [wire, host]) == [])
    let planted = makeFile(
      "struct Cookie {\n  let host: Host  // why\n}",
      at: "Sources/CaromProtocol/Wire/Cookie.swift")
    #expect(
      FolderRule.violations(in: [wire, host, planted]) == [
        "Sources/CaromProtocol/Wire/Cookie.swift:2: Wire must not use Host, which is in Host"
      ])
  }

  @Test(arguments: ["// A Host does this.", "let text = \"Host\"", "let other = Hosts()"])
  func `a later type's name in a comment, a string or a longer word passes`(line: String) {
    let host = makeFile("struct Host {}", at: "Sources/CaromProtocol/Host/Host.swift")
    let file = makeFile(line, at: "Sources/CaromProtocol/Wire/Frame.swift")
    #expect(FolderRule.violations(in: [host, file]) == [])
  }

  @Test func `a file in the module's folder may use every folder, and none may use it`() {
    let top = makeFile(
      "struct MulticastDNS { let name: Name }", at: "Sources/CaromDNS/MulticastDNS.swift")
    let name = makeFile("struct Name {}", at: "Sources/CaromDNS/Message/Name.swift")
    #expect(FolderRule.violations(in: [top, name]) == [])
    let planted = makeFile(
      "extension Name { typealias A = MulticastDNS }", at: "Sources/CaromDNS/Unicast/A.swift")
    #expect(FolderRule.violations(in: [top, name, planted]).count == 1)
  }

  @Test func `a folder that the plan lacks and a folder of too many files are found`() {
    let stray = makeFile("struct A {}", at: "Sources/CaromDNS/Stray/A.swift")
    #expect(FolderRule.violations(in: [stray]).count == 1)
    let files = (0...FolderRule.fileLimit).map { makeFile("", at: "Tests/SomeTests/\($0).swift") }
    #expect(FolderRule.violations(in: files).count == 1)
    #expect(FolderRule.violations(in: Array(files.dropLast())) == [])
  }

  @Test(arguments: VocabularyRule.entries.map(\.old))
  func `a retired word is found in prose and in identifiers`(word: String) {
    let capital = word.prefix(1).uppercased() + word.dropFirst()
    let folder = VocabularyRule.entries.first { $0.old == word }?.folders.first ?? "Sources/Any"
    for line in ["/// The \(word) here.", "let \(word)Count = 0", "let old\(capital) = 0"] {
      let file = makeFile(line, at: "\(folder)/Some.swift")
      #expect(VocabularyRule.violations(in: file).count == 1, "\(line)")
    }
  }

  @Test func `a longer word that contains a retired one passes`() {
    let line = "/// manner, divider and \u{22}strangers\u{22} are words of their own; so is Spider."
    #expect(VocabularyRule.violations(in: makeFile(line)) == [])
  }

  @Test func `a page that names a test or a suite that does not exist is found`() {
    let file = makeFile(
      "struct SomeTests {\n  @Test func `it works`() {}\n}", at: "Tests/XTests/SomeTests.swift")
    let tests = ProofRule.Tests(in: [file])
    for row in ["SomeTests \"it works\"", "SomeTests \"it …\"", "SomeTests"] {
      #expect(ProofRule.faults(in: "| a claim | \(row) |", tests) == [])
    }
    for row in ["SomeTests \"it fails\"", "OtherTests", "OtherTests \"it works\""] {
      #expect(!ProofRule.faults(in: "| a claim | \(row) |", tests).isEmpty, "\(row)")
    }
    let page = makeFile("| MP-1 | a claim | SomeTests |\n| MP-2 | a claim | nothing |")
    #expect(ProofRule.numbers(in: page) == ["MP-1"])
  }

  @Test func `public types without a topic and topics without a type are distinguished`() {
    let code = "public struct A {}\n@frozen public enum B {}\nstruct C {}\npublic func d() {}"
    let files = [makeFile(code, at: "Sources/CaromCore/A.swift")]
    #expect(DocumentationRule.publicNames(of: "CaromCore", in: files) == ["A", "B", "d"])
    let page = makeFile("See ``B``.\n- ``A``\n- ``d()``\n- <doc:Page>", at: "Sources/x.md")
    #expect(DocumentationRule.topics(of: page) == ["A", "d"])
    #expect(DocumentationRule.linkedPages(of: page).map(\.name) == ["Page"])
  }
}
