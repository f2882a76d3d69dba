import Foundation
import Testing

/// The house rules that a program can check, over every file of the project.
struct TidyTests {
  @Test func `every module imports only what the table allows`() {
    #expect(SourceTree.swift.count > 30)
    #expect(SourceTree.swift.flatMap(ImportRule.violations) == [])
  }

  @Test func `lines, functions and files keep their limits`() {
    #expect(!SourceTree.c.isEmpty)
    #expect((SourceTree.swift + SourceTree.c).flatMap(LengthRule.violations) == [])
  }

  @Test func `unsafe code, postponed work and unchecked sharing stay where they may`() {
    #expect((SourceTree.swift + SourceTree.c).flatMap(WordRule.violations) == [])
  }

  @Test func `each numbered requirement of discovery has its test, and each test its row`() throws {
    let page = try String(
      contentsOf: SourceTree.top.appending(path: "Sources/Carom/Carom.docc/Conformance.md"),
      encoding: .utf8)
    let required = ConformanceRule.required(in: page)
    let tested = ConformanceRule.tested(in: SourceTree.swift)
    #expect(required.count > 80)
    #expect(required.subtracting(tested).sorted() == [])
    #expect(tested.subtracting(required).sorted() == [])
  }

  @Test func `the formatter has nothing to say`() async throws {
    let complaints = try await Formatter.complaints(
      about: ["Sources", "Tests", "Benchmarks", "Package.swift"])
    #expect(complaints == "")
  }
}
