import AirHockey
import Foundation

/// A player's default name and strength in a JSON file: `{"name":"Maya","strength":"hard"}`. Both
/// keys are optional.
struct Preferences: Codable, Equatable {
  /// The maximum length of the file, in bytes.
  static let maximumLength = 65_536

  var name: String?
  var strength: String?

  /// Why the file cannot be read or written. It is thrown while the command line is parsed, and the
  /// parser reports any error of its own type as an invalid command line.
  struct FileFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
  }

  /// Reads a file. If `mayBeMissing`, a missing file counts as empty preferences.
  static func load(_ path: String, mayBeMissing: Bool = false) throws -> Preferences {
    guard FileManager.default.fileExists(atPath: path) else {
      if mayBeMissing { return Preferences() }
      throw FileFailure("--preferences: \(path) does not exist; --save creates it.")
    }
    guard let file = FileHandle(forReadingAtPath: path),
      let bytes = try file.read(upToCount: maximumLength + 1)
    else { throw FileFailure("--preferences: \(path) cannot be read, or is empty.") }
    guard bytes.count <= maximumLength,
      let preferences = try? JSONDecoder().decode(Preferences.self, from: bytes)
    else {
      throw FileFailure(
        "--preferences: \(path) is not a JSON object whose name and strength are strings.")
    }
    return preferences
  }

  /// Writes the preferences to a file, which is replaced atomically.
  func save(_ path: String) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    do {
      try (encoder.encode(self) + Data("\n".utf8)).write(
        to: URL(filePath: path), options: .atomic)
    } catch {
      throw FileFailure(
        "--save: \(path) cannot be written; check the folder and its permissions.")
    }
  }
}
