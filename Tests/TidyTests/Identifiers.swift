/// The capitalized words of a file's code, without those of comments and string literals, and the
/// types that the file declares at its top level.
struct Identifiers {
  /// Each word once, with the index of the first line that has it, in the order of the file.
  private(set) var capitalized: [(word: Substring, line: Int)] = []
  private(set) var declaredTypes: [Substring] = []

  private static let declarations: Set<Substring> = [
    "struct", "class", "enum", "actor", "protocol", "typealias",
  ]

  init(_ file: SourceFile) {
    var seen: Set<Substring> = []
    for index in file.lines.indices {
      let words = Self.words(of: file.code(index))
      for word in words where word.utf8.first.map(Self.isCapital) == true {
        if seen.insert(word).inserted { capitalized.append((word, index)) }
      }
      // An import of one type, such as `import struct Module.Type`, declares none.
      guard file.lines[index].utf8.first != UInt8(ascii: " "), !words.contains("import") else {
        continue
      }
      for (keyword, name) in zip(words, words.dropFirst()) where Self.declarations.contains(keyword)
      {
        declaredTypes.append(name)
      }
    }
  }

  /// Splits at every byte that no Swift identifier contains, outside of string literals.
  private static func words(of line: Substring) -> [Substring] {
    var words: [Substring] = []
    var isInLiteral = false
    var start: Substring.Index?
    for place in line.utf8.indices {
      let byte = line.utf8[place]
      if byte == UInt8(ascii: "\"") { isInLiteral.toggle() }
      if !isInLiteral, isPartOfWord(byte) {
        start = start ?? place
      } else if let begin = start {
        words.append(line[begin..<place])
        start = nil
      }
    }
    if let start { words.append(line[start...]) }
    return words
  }

  private static func isCapital(_ byte: UInt8) -> Bool {
    byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z")
  }

  private static func isPartOfWord(_ byte: UInt8) -> Bool {
    isCapital(byte) || byte >= UInt8(ascii: "a") && byte <= UInt8(ascii: "z")
      || byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") || byte == UInt8(ascii: "_")
  }
}
