/// The documentation site: every public type stands under a topic of its module's page, and every
/// link leads somewhere.
enum DocumentationRule {
  /// The public types and functions that a module declares at its top level.
  static func publicNames(of module: String, in files: [SourceFile]) -> Set<String> {
    let declaration = /^(?:@\w+ )*(?:public|open) (?:final |indirect |nonisolated )*(\w+) (\w+)/
    let kinds: Set<Substring> = [
      "struct", "class", "enum", "actor", "protocol", "typealias", "func",
    ]
    var names: Set<String> = []
    for file in files where file.module == module {
      for line in file.lines where line.utf8.first != UInt8(ascii: " ") {
        guard line.contains("public") || line.contains("open"),
          let match = line.firstMatch(of: declaration), kinds.contains(match.1)
        else { continue }
        names.insert(String(match.2))
      }
    }
    return names
  }

  /// The names that a page lists under its topics, without the labels of functions.
  static func topics(of page: SourceFile) -> Set<String> {
    var names: Set<String> = []
    for line in page.lines where line.hasPrefix("- ``") {
      if let match = line.firstMatch(of: /^- ``(\w+)/) { names.insert(String(match.1)) }
    }
    return names
  }

  /// The pages that the links of a page name, each with the index of its line.
  static func linkedPages(of page: SourceFile) -> [(name: String, line: Int)] {
    page.lines.indices.flatMap { index in
      page.lines[index].matches(of: /<doc:(\w+)>/).map { (String($0.1), index) }
    }
  }

  /// The symbols that a page links to as ``Module/Type``, each with the index of its line.
  static func linkedSymbols(of page: SourceFile) -> [(module: String, type: String, line: Int)] {
    page.lines.indices.flatMap { index in
      page.lines[index].matches(of: /``\/?(Carom\w*)\/(\w+)[^`]*``/)
        .map { (String($0.1), String($0.2), index) }
    }
  }
}
