import Foundation

/// Each numbered requirement of the Conformance page has a test with the number in its name.
enum ConformanceRule {
  /// The numbers of the page's rows; without those that say that they are not offered.
  static func required(in page: String) -> Set<String> {
    var numbers: Set<String> = []
    for line in page.split(separator: "\n") where !line.contains("Not offered:") {
      if let match = line.firstMatch(of: /^\| (R[0-9]+) \|/) { numbers.insert(String(match.1)) }
    }
    return numbers
  }

  /// The numbers in the names of the tests of `files`: "R12 R13: what is proved".
  static func tested(in files: [SourceFile]) -> Set<String> {
    var numbers: Set<String> = []
    for file in files where file.path.hasPrefix("Tests/") {
      for line in file.lines where line.contains("func `R") {
        guard let match = line.firstMatch(of: /func `((?:R[0-9]+ ?)+):/) else { continue }
        numbers.formUnion(match.1.split(separator: " ").map(String.init))
      }
    }
    return numbers
  }
}
