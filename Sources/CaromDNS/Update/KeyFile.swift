import CaromCore

/// A key in the format of BIND's configuration, which `tsig-keygen` writes:
/// `key "name" { algorithm hmac-sha256; secret "base64"; };`.
package struct KeyFile: Sendable {
  /// The maximum length of a file, in bytes.
  package static let limit = 4096
  /// The permitted lengths of a secret, in bytes. Fewer than 16 bytes could be guessed.
  static let secretLengths = 16...512

  /// The key's name.
  package let name: Name
  /// The secret. The caller must keep it secret.
  package let secret: [UInt8]

  /// Parses a file. Comments begin with `//` or `#` and end with the line.
  package init(parsing text: [UInt8]) throws(KeyFileError) {
    guard text.count <= Self.limit else { throw .malformed }
    let words = Self.words(of: String(decoding: text, as: UTF8.self))
    guard words.count >= 3, words[0] == "key", words[2] == "{",
      let end = words.firstIndex(of: "}"), let name = try? Name(text: words[1]), name != .root
    else { throw .malformed }
    var values: [String: String] = [:]
    for statement in words[3..<end].split(separator: ";") {
      guard statement.count == 2, let (option, value) = Self.pair(statement) else {
        throw .malformed
      }
      values[option.lowercased()] = value
    }
    guard let algorithm = values["algorithm"], let encoded = values["secret"] else {
      throw .malformed
    }
    guard algorithm.lowercased() == "hmac-sha256" else { throw .unsupportedAlgorithm }
    guard let secret = Base64.standard.bytes(of: encoded.utf8) else { throw .malformed }
    guard Self.secretLengths.contains(secret.count) else { throw .secretLength }
    self.name = name
    self.secret = secret
  }

  private static func pair(_ words: ArraySlice<String>) -> (String, String)? {
    guard let first = words.first, let last = words.last else { return nil }
    return (first, last)
  }

  /// Splits text into words, quoted strings and the characters `{`, `}` and `;`.
  private static func words(of text: String) -> [String] {
    var words: [String] = []
    for line in text.split(whereSeparator: \.isNewline) {
      var word = ""
      var isQuoted = false
      for character in withoutComment(line) {
        switch character {
        case "\"": isQuoted.toggle()
        case "{", "}", ";", " ", "\t":
          if isQuoted { fallthrough }
          if !word.isEmpty { words.append(word) }
          word = ""
          if !character.isWhitespace { words.append(String(character)) }
        default: word.append(character)
        }
      }
      if !word.isEmpty { words.append(word) }
    }
    return words
  }

  private static func withoutComment(_ line: Substring) -> Substring {
    let line = line.prefix { $0 != "#" }
    // A secret may contain two slashes, so only those at the start or after a space are a comment.
    var previous: Character = " "
    for index in line.indices {
      if previous.isWhitespace, line[index...].hasPrefix("//") { return line[..<index] }
      previous = line[index]
    }
    return line
  }
}

extension KeyFile: CustomStringConvertible, CustomReflectable {
  /// The key's name. The secret is never shown.
  package var description: String { "key \(name)" }
  /// A mirror without children.
  package var customMirror: Mirror { Mirror(self, children: []) }
}

/// The reason why a key file cannot be used. The file's content is never part of an error.
public enum KeyFileError: Error, Hashable, Sendable {
  /// The file does not exist or cannot be read.
  case unreadable
  /// The file does not have the format that `tsig-keygen` writes.
  case malformed
  /// The key's algorithm is not HMAC-SHA256.
  case unsupportedAlgorithm
  /// The secret is shorter than 16 bytes or longer than 512.
  case secretLength
}

extension KeyFileError: CustomStringConvertible {
  /// A one-line message for display: what happened and what to do.
  public var description: String {
    switch self {
    case .unreadable: "the key file cannot be read: check its path and its permissions"
    case .malformed: "the key file is malformed: write it with tsig-keygen -a hmac-sha256"
    case .unsupportedAlgorithm: "the key's algorithm is not hmac-sha256: create another key"
    case .secretLength: "the key's secret must have 16 to 512 bytes: create another key"
    }
  }
}
