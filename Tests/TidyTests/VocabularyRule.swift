import Foundation

/// Words that the glossary has replaced; nobody outside the project would look for them.
enum VocabularyRule {
  /// A retired word and the word that stands in its place.
  struct Entry: Sendable {
    /// In lower case; it is found as a word of prose and as a part of an identifier.
    let old: String
    let new: String
    /// The folders in which the word is refused; empty for all.
    var folders: [String] = []
  }

  static let entries: [Entry] = [
    Entry(old: "linkid", new: "ConnectionID"),
    Entry(old: "callee", new: "responder"),
    Entry(
      old: "caller", new: "initiator",
      folders: ["Sources/CaromProtocol", "Sources/CaromSession", "Tests/CaromProtocolTests"]),
    Entry(old: "guest", new: "client"),
    Entry(old: "guests", new: "clients"),
    Entry(old: "fellow", new: "node of the group"),
    Entry(old: "fellows", new: "groupNodes"),
    Entry(old: "shelf", new: "InboxRegistry"),
    Entry(old: "rider", new: "redundant send"),
    Entry(old: "riders", new: "redundant sends"),
    Entry(old: "overtaker", new: "reordering threshold"),
    Entry(old: "overtakers", new: "reordering threshold"),
    Entry(old: "foretold", new: "predicted"),
    Entry(old: "watcher", new: "spectator"),
    Entry(old: "watchers", new: "spectators"),
    Entry(old: "farewell", new: "DisconnectVote"),
    Entry(old: "inquiry", new: "ActiveQuestion"),
    Entry(old: "inquiries", new: "ActiveQuestions"),
    Entry(old: "whoever", new: "the name of the one who acts"),
    Entry(old: "whomever", new: "the name of the one who is acted upon"),
    Entry(old: "nought", new: "zero"),
    Entry(old: "anew", new: "again"),
  ]

  static func violations(in file: SourceFile) -> [String] {
    guard !file.path.hasSuffix("VocabularyRule.swift") else { return [] }
    let entries = entries.filter { entry in
      (entry.folders.isEmpty || entry.folders.contains { file.path.hasPrefix($0 + "/") })
        && isMentioned(entry.old, in: file)
    }
    guard !entries.isEmpty else { return [] }
    return file.lines.indices.flatMap { index in
      // The role of a spectator is "watcher" in the output of `--json`, which must not change.
      let line = file.lines[index].replacing("\"watcher\"", with: "")
      let words = Set(words(of: line[...]))
      return entries.filter { words.contains($0.old) }
        .map { file.complaint(index, "\"\($0.old)\" is a retired word; write \($0.new)") }
    }
  }

  private static func isMentioned(_ word: String, in file: SourceFile) -> Bool {
    let spellings =
      word == "linkid" ? [word, "Linkid", "linkID", "LinkID"] : [word, word.capitalized]
    return spellings.contains(where: file.mentions)
  }

  /// The words of a line in lower case; identifiers are split where a capital follows a small
  /// letter, and are there as a whole as well.
  private static func words(of line: Substring) -> [String] {
    line.split { !$0.isLetter }.flatMap { word in
      var parts: [String] = []
      var part = ""
      for character in word {
        if character.isUppercase, part.last?.isLowercase == true {
          parts.append(part.lowercased())
          part = ""
        }
        part.append(character)
      }
      return parts + [part.lowercased(), word.lowercased()]
    }
  }
}
