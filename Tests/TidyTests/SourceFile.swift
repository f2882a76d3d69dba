import Foundation

/// One file of the project as the rules see it: its path from the project's root, and its lines.
struct SourceFile: Sendable {
  let path: String
  let lines: [Substring]
  let bytes: [UInt8]

  init(path: String, text: String) {
    self.path = path
    bytes = Array(text.utf8)
    lines = Self.lines(of: text)
  }

  /// Splits at line feeds. Works on bytes: splitting 90,000 lines at characters takes seconds.
  private static func lines(of text: String) -> [Substring] {
    var lines: [Substring] = []
    var rest = text[...]
    while let end = rest.utf8.firstIndex(of: UInt8(ascii: "\n")) {
      lines.append(rest[..<end])
      rest = rest[rest.utf8.index(after: end)...]
    }
    return lines + [rest]
  }

  /// The folder below `Sources`, which is the module's name; `nil` for files elsewhere.
  var module: String? {
    let parts = path.split(separator: "/")
    return parts.count > 2 && parts[0] == "Sources" ? String(parts[1]) : nil
  }

  /// The folder inside the module, which is empty for a file directly in the module's folder.
  var room: String {
    let parts = path.split(separator: "/")
    return parts.count > 3 ? String(parts[2]) : ""
  }

  /// Whether the text contains `word` anywhere: a quick check that spares most files a slow one.
  func mentions(_ word: String) -> Bool {
    Data(bytes).range(of: Data(word.utf8)) != nil
  }

  /// A line without its `//` comment, for rules about code.
  func code(_ index: Int) -> Substring {
    let line = lines[index].utf8
    var previous: UInt8 = 0
    for place in line.indices {
      if line[place] == UInt8(ascii: "/"), previous == UInt8(ascii: "/") {
        return lines[index][..<line.index(before: place)]
      }
      previous = line[place]
    }
    return lines[index]
  }

  /// A finding in the form that compilers use: "path:line: message".
  func complaint(_ index: Int, _ message: String) -> String { "\(path):\(index + 1): \(message)" }
}

/// The project's own files, located relative to this file.
enum SourceTree {
  static let top = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  static let swift = files(below: ["Sources", "Benchmarks", "Tests"], endings: ["swift"])
  static let c = files(below: ["CSources", "Benchmarks"], endings: ["c", "h"])
  static let pages = files(below: ["Sources"], endings: ["md"])

  static func files(below folders: [String], endings: Set<String>) -> [SourceFile] {
    folders.flatMap { folder in
      names(below: folder).sorted().compactMap { read("\(folder)/\($0)", endings) }
    }
  }

  /// The files in a folder and its subfolders, without build output.
  private static func names(below folder: String) -> [String] {
    let names = FileManager.default.enumerator(atPath: top.appending(path: folder).path)
    var found: [String] = []
    while let name = names?.nextObject() as? String {
      if name.hasSuffix(".build") { names?.skipDescendants() } else { found.append(name) }
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
