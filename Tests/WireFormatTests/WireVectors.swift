import Foundation
import Testing

/// Reads named byte sequences from a text file in `Tests/Fixtures/wire`: a name and a colon, then
/// indented lines of hexadecimal digits. A `#` starts a comment.
enum WireVectors {
  static let folder = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "Fixtures/wire")

  static func load(_ file: String) throws -> [String: [UInt8]] {
    let text = try String(contentsOf: folder.appending(path: file), encoding: .utf8)
    var vectors: [String: [UInt8]] = [:]
    var name = ""
    for line in text.split(separator: "\n") {
      let code = line.prefix { $0 != "#" }
      if code.hasPrefix(" ") {
        vectors[name, default: []] += try bytes(code.filter { $0 != " " })
      } else if let colon = code.lastIndex(of: ":") {
        name = String(code[..<colon])
        #expect(
          vectors.updateValue([], forKey: name) == nil, "the file has two vectors named \(name)")
      }
    }
    return vectors
  }

  private static func bytes(_ digits: String) throws -> [UInt8] {
    let digits = Array(digits)
    return try stride(from: 0, to: digits.count, by: 2).map { index in
      let pair = String(digits[index..<min(index + 2, digits.count)])
      return try #require(
        pair.count == 2 ? UInt8(pair, radix: 16) : nil, "\(pair) is not a byte in hexadecimal")
    }
  }
}
