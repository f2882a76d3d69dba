/// Hard limits on the length of lines, functions and files.
enum LengthRule {
  static let lineLimit = 100
  static let functionLimit = 70
  static let fileLimit = 400

  static func violations(in file: SourceFile) -> [String] {
    let long = file.lines.indices.filter { index in
      // A line never has more columns than bytes, and bytes are quick to count.
      file.lines[index].utf8.count > lineLimit && file.lines[index].count > lineLimit
    }
    return long.map { file.complaint($0, "over \(lineLimit) columns") } + fileLength(file)
      + functions(file)
  }

  private static func fileLength(_ file: SourceFile) -> [String] {
    let count = file.lines.last == "" ? file.lines.count - 1 : file.lines.count
    return count > fileLimit ? [file.complaint(0, "\(count) lines, over \(fileLimit)")] : []
  }

  /// The formatter aligns a declaration's closing brace with its first letter, so indentation alone
  /// tells where a function ends.
  private static func functions(_ file: SourceFile) -> [String] {
    guard file.lines.count > functionLimit else { return [] }
    let opens = file.path.hasSuffix(".swift") ? opensSwift : opensC
    return file.lines.indices.compactMap { start in
      guard opens(file.lines[start]), let end = end(of: start, in: file) else { return nil }
      let length = end - start + 1
      guard length > functionLimit else { return nil }
      return file.complaint(start, "a function of \(length) lines, over \(functionLimit)")
    }
  }

  private static func opensSwift(_ line: Substring) -> Bool {
    // Every declaration that starts here ends its first line with an opening brace or parenthesis,
    // or with a closing one where the brace follows on another line.
    guard let last = line.utf8.last, "{()".utf8.contains(last) else { return false }
    let separators = Array(" (<?!:".utf8)
    let words = line.utf8.split(maxSplits: 16, whereSeparator: separators.contains).prefix(6)
    return words.contains { starts.contains(Substring($0)) }
  }

  private static let starts: Set<Substring> = [
    "func", "init", "deinit", "subscript", "var", "test",
  ]

  private static func opensC(_ line: Substring) -> Bool {
    guard let first = line.first else { return false }
    return (first.isLetter || first == "_") && line.contains("(") && !line.hasSuffix(";")
  }

  /// The line of the closing brace, or `nil` for a declaration without a body.
  private static func end(of start: Int, in file: SourceFile) -> Int? {
    let depth = indentation(file.lines[start])
    for index in file.lines.indices.dropFirst(start + 1) {
      let line = file.lines[index].utf8
      let indent = indentation(file.lines[index])
      guard indent <= depth, indent < line.count else { continue }
      guard indent == depth else { return nil }
      let first = line.dropFirst(indent).first
      if first == UInt8(ascii: "}") { return index }
      guard
        first == UInt8(ascii: ")") || first == UInt8(ascii: "{")
          || file.lines[index].dropFirst(depth).hasPrefix("where ")
      else { return nil }
    }
    return nil
  }

  private static func indentation(_ line: Substring) -> Int {
    var count = 0
    for byte in line.utf8 {
      guard byte == UInt8(ascii: " ") else { break }
      count += 1
    }
    return count
  }
}
