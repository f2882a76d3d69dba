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

  @Test func `folders hold 40 files at most, and use only the folders before them`() {
    #expect(FolderRule.violations(in: SourceTree.swift) == [])
  }

  @Test func `words that the glossary has replaced do not come back`() {
    #expect(
      (SourceTree.swift + SourceTree.c + SourceTree.pages).flatMap(VocabularyRule.violations) == [])
  }

  @Test func `no answer of a send that does not wait can be discarded`() {
    let head = /^ *(public )?(nonisolated )?func (post|postToAll|trySend|tryBroadcast)</
    var count = 0
    for file in SourceTree.swift where file.module == "CaromSession" {
      for (index, line) in file.lines.enumerated() where line.firstMatch(of: head) != nil {
        count += 1
        let above = file.lines[..<index].reversed().prefix { $0.contains("@") }
        if above.contains(where: { $0.contains("@discardableResult") }) {
          Issue.record("\(file.complaint(index, "the answer can be discarded"))")
        }
      }
    }
    #expect(count >= 6)
  }

  @Test func `every public type stands under a topic of its module's page`() {
    #expect(SourceTree.pages.count > 15)
    for page in SourceTree.pages where page.path.hasSuffix(".docc/\(page.module ?? "").md") {
      let names = DocumentationRule.publicNames(of: page.module ?? "", in: SourceTree.swift)
      let topics = DocumentationRule.topics(of: page)
      #expect(names.subtracting(topics).sorted() == [], "\(page.path) lacks these")
      #expect(topics.subtracting(names).sorted() == [], "\(page.path) lists what does not exist")
    }
  }

  @Test func `every link of a page leads to a page or a type`() {
    let pages = Set(SourceTree.pages.map { $0.path.split(separator: "/").last?.dropLast(3) ?? "" })
    for page in SourceTree.pages {
      for link in DocumentationRule.linkedPages(of: page) where !pages.contains(link.name[...]) {
        Issue.record("\(page.complaint(link.line, "no page is called \(link.name)"))")
      }
      for link in DocumentationRule.linkedSymbols(of: page) {
        let names = DocumentationRule.publicNames(of: link.module, in: SourceTree.swift)
        if !names.contains(link.type) {
          Issue.record("\(page.complaint(link.line, "\(link.module) has no \(link.type)"))")
        }
      }
    }
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

  @Test func `the tests that a page names exist`() {
    let tests = ProofRule.Tests(in: SourceTree.swift + ProofRule.exampleTests)
    var count = 0
    for page in SourceTree.pages {
      for (index, line) in page.lines.enumerated() {
        for fault in ProofRule.faults(in: line, tests) {
          Issue.record("\(page.complaint(index, fault))")
        }
        count += line.hasPrefix("| ") ? line.matches(of: /"[^"]+"/).count : 0
      }
    }
    #expect(count > 100)
  }

  @Test func `each requirement for nearby peers has one row with its tests`() {
    let numbers = SourceTree.pages.flatMap(ProofRule.numbers)
    let all = [("BH", Array(1...24)), ("C", Array(1...11)), ("MP", Array(1...20) + Array(22...24))]
    #expect(
      numbers.sorted()
        == all.flatMap { kind, numbers in
          numbers.map { "\(kind)-\($0)" }
        }.sorted())
  }

  @Test func `the formatter has nothing to say`() async throws {
    let complaints = try await Formatter.complaints(
      about: ["Sources", "Tests", "Benchmarks", "Package.swift"])
    #expect(complaints == "")
  }

  @Test func `no public type has the name of a type of SwiftNIO, ServiceLifecycle or Foundation`() {
    let modules = Set(SourceTree.swift.compactMap(\.module))
    var count = 0
    for module in modules.sorted() {
      let names = DocumentationRule.publicNames(of: module, in: SourceTree.swift)
      count += names.count
      #expect(NameRule.violations(in: module, names) == [])
    }
    #expect(count > 100)
    #expect(
      NameRule.violations(in: "M", ["Channel", "Service", "Own"])
        == ["M: Channel is a type of NIOCore", "M: Service is a type of ServiceLifecycle"])
  }
}
