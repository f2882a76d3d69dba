import Foundation

/// One file of the project as the rules see it: its path from the top, and its lines.
struct SourceFile {
  let path: String
  let lines: [Substring]
  private let bytes: Data

  init(path: String, text: String) {
    self.path = path
    bytes = Data(text.utf8)
    lines = text.split(separator: "\n", omittingEmptySubsequences: false)
  }

  /// The folder below `Sources`, which is the module's name; `nil` for files elsewhere.
  var module: String? {
    let parts = path.split(separator: "/")
    return parts.count > 2 && parts[0] == "Sources" ? String(parts[1]) : nil
  }

  /// Whether the word occurs anywhere: a quick look that spares most files a slow one.
  func mentions(_ word: String) -> Bool {
    bytes.range(of: Data(word.utf8)) != nil
  }

  /// A line without what follows `//`, for rules that speak of code.
  func code(_ index: Int) -> Substring {
    guard let comment = lines[index].firstRange(of: "//") else { return lines[index] }
    return lines[index][..<comment.lowerBound]
  }

  /// "path:line: what", as compilers write it.
  func complaint(_ index: Int, _ what: String) -> String { "\(path):\(index + 1): \(what)" }
}

/// The project's own tree, found from this file's place in it.
enum SourceTree {
  static let top = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  static let swift = files(below: ["Sources", "Benchmarks", "Tests"], endings: ["swift"])
  static let c = files(below: ["CSources", "Benchmarks"], endings: ["c", "h"])

  static func files(below folders: [String], endings: Set<String>) -> [SourceFile] {
    folders.flatMap { folder in
      names(below: folder).sorted().compactMap { read("\(folder)/\($0)", endings) }
    }
  }

  /// What stands in a folder; what was built there is passed over.
  private static func names(below folder: String) -> [String] {
    let names = FileManager.default.enumerator(atPath: top.appending(path: folder).path)
    var found: [String] = []
    while let name = names?.nextObject() as? String {
      if name.hasSuffix("/.build") { names?.skipDescendants() } else { found.append(name) }
    }
    return found
  }

  private static func read(_ path: String, _ endings: Set<String>) -> SourceFile? {
    let url = top.appending(path: path)
    guard endings.contains(url.pathExtension),
      let text = try? String(contentsOf: url, encoding: .utf8)
    else { return nil }
    return SourceFile(path: path, text: text)
  }
}
