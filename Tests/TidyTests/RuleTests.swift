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
}
