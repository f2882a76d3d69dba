import AirHockey
import ArgumentParser
import Foundation

/// What a player likes, in a JSON file: `{"name":"Maya","strength":"hard"}`. A key may be absent.
struct Preferences: Codable, Equatable {
  /// The largest file that is read, bytes.
  static let maximumLength = 65_536

  var name: String?
  var strength: String?

  /// Reads a file; a missing one holds nothing.
  static func load(_ path: String) throws -> Preferences {
    guard FileManager.default.fileExists(atPath: path) else { return Preferences() }
    guard let file = FileHandle(forReadingAtPath: path),
      let bytes = try file.read(upToCount: maximumLength + 1)
    else { throw ValidationError("--preferences: \(path) cannot be read, or is empty.") }
    guard bytes.count <= maximumLength,
      let preferences = try? JSONDecoder().decode(Preferences.self, from: bytes)
    else {
      throw ValidationError(
        "--preferences: \(path) is no JSON object with a name and a strength as strings.")
    }
    return preferences
  }

  /// Writes the file, whole or not at all.
  func save(_ path: String) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    do {
      try (encoder.encode(self) + Data("\n".utf8)).write(
        to: URL(filePath: path), options: .atomic)
    } catch {
      throw ValidationError("--save: \(path) cannot be written.")
    }
  }
}
