/// One screen: hard limits on lines, functions and files.
enum LengthRule {
  static let lineLimit = 100
  static let functionLimit = 70
  static let fileLimit = 400

  static func violations(in file: SourceFile) -> [String] {
    let long = file.lines.indices.filter { index in
      // Bytes are quickly counted, and never fewer than columns.
      file.lines[index].utf8.count > lineLimit && file.lines[index].count > lineLimit
    }
    return long.map { file.complaint($0, "over \(lineLimit) columns") } + fileLength(file)
      + functions(file)
  }

  private static func fileLength(_ file: SourceFile) -> [String] {
    let count = file.lines.last == "" ? file.lines.count - 1 : file.lines.count
    return count > fileLimit ? [file.complaint(0, "\(count) lines, over \(fileLimit)")] : []
  }

  /// The formatter puts a declaration's closing brace below its first letter, so that
  /// indentation alone tells where a function ends.
  private static func functions(_ file: SourceFile) -> [String] {
    file.lines.indices.compactMap { start in
      let opens = file.path.hasSuffix(".swift") ? opensSwift : opensC
      guard opens(file.lines[start]), let end = end(of: start, in: file) else { return nil }
      let length = end - start + 1
      guard length > functionLimit else { return nil }
      return file.complaint(start, "a function of \(length) lines, over \(functionLimit)")
    }
  }

  private static func opensSwift(_ line: Substring) -> Bool {
    let words = line.split { " (<?!:".contains($0) }
    let starts: Set<Substring> = ["func", "init", "deinit", "subscript", "var", "test"]
    return words.prefix(6).contains { starts.contains($0) } && !line.hasSuffix("}")
  }

  private static func opensC(_ line: Substring) -> Bool {
    guard let first = line.first else { return false }
    return (first.isLetter || first == "_") && line.contains("(") && !line.hasSuffix(";")
  }

  /// The line of the closing brace; `nil` for a declaration without a body.
  private static func end(of start: Int, in file: SourceFile) -> Int? {
    let depth = indentation(file.lines[start])
    for index in file.lines.indices.dropFirst(start + 1) {
      let line = file.lines[index]
      guard !line.allSatisfy(\.isWhitespace), indentation(line) <= depth else { continue }
      guard indentation(line) == depth, let first = line.first(where: { $0 != " " }) else {
        return nil
      }
      if first == "}" { return index }
      guard first == ")" || first == "{" || line.dropFirst(depth).hasPrefix("where ") else {
        return nil
      }
    }
    return nil
  }

  private static func indentation(_ line: Substring) -> Int { line.prefix { $0 == " " }.count }
}
