/// The rows of the documentation's tables that name tests name tests that exist.
enum ProofRule {
  /// The suites of the project, each with the names of its tests.
  struct Tests {
    private(set) var suites: [Substring: Set<Substring>] = [:]

    /// Reads the tests of `files`. A test belongs to the suite that its file is named after or
    /// declares: "SessionTests.swift", "extension SessionTests" and "struct SessionTests".
    init(in files: [SourceFile]) {
      for file in files where file.path.contains("Tests/") {
        var names: Set<Substring> = []
        var owners: Set<Substring> = []
        // Regular expressions are slow, so most lines are passed over without one.
        for line in file.lines where line.utf8.contains(UInt8(ascii: "`")) {
          if let match = line.firstMatch(of: /func `([^`]+)`/) { names.insert(match.1) }
        }
        for line in file.lines where line.utf8.first.map({ $0 > UInt8(ascii: " ") }) == true {
          if let match = line.firstMatch(of: /(?:struct|extension|class) ([A-Za-z]+Tests)\b/) {
            owners.insert(match.1)
          }
        }
        for owner in owners { suites[owner, default: []].formUnion(names) }
      }
    }
  }

  /// What is wrong with the row `line`: suites that do not exist (a folder such as `Tests/XTests`
  /// is no suite), and quoted tests that are in none of the suites. A quoted name may end with
  /// "…".
  static func faults(in line: Substring, _ tests: Tests) -> [String] {
    guard line.hasPrefix("| ") else { return [] }
    let suites = line.matches(of: /\b[A-Z][A-Za-z]*Tests\b/).map(\.output)
    guard !suites.isEmpty, let proof = line.split(separator: "|").last else { return [] }
    let known = suites.reduce(into: Set<Substring>()) { $0.formUnion(tests.suites[$1] ?? []) }
    let missing = suites.filter { tests.suites[$0] == nil && !line.contains("Tests/\($0)") }
    let quoted = proof.matches(of: /"([^"]+)"/).map(\.output.1).filter { name in
      name.hasSuffix("…")
        ? !known.contains { $0.hasPrefix(name.dropLast()) } : !known.contains(name)
    }
    return missing.map { "no suite is called \($0)" } + quoted.map { "no test is called “\($0)”" }
  }

  /// The numbers of a page's rows that name a suite, such as MP-3.
  static func numbers(in page: SourceFile) -> [String] {
    page.lines.compactMap { line in
      guard line.contains("Tests") else { return nil }
      return (line.firstMatch(of: /^\| ([A-Z]+-[0-9]+) \|/)?.output.1).map(String.init)
    }
  }

  /// The tests of the examples, which are a package of their own.
  static var exampleTests: [SourceFile] {
    SourceTree.files(below: ["Examples/Tests"], endings: ["swift"])
  }
}
