import Foundation
import Testing

/// A reference case: an input, the expected results, and a tolerance.
struct PhysicsCase: Sendable, CustomTestStringConvertible {
  let id: String
  let kind: String
  let input: JSON
  let expect: JSON
  let tolerance: Double

  var testDescription: String { id }

  init?(_ json: JSON) {
    guard let id = json["id"].text, let kind = json["kind"].text else { return nil }
    self.id = id
    self.kind = kind
    input = json["input"]
    expect = json["expect"]
    tolerance = json["tol"].double ?? 1e-9
  }

  /// The cases of the project and of the folder named by `CAROM_CASES`. A later case replaces an
  /// earlier one with the same id.
  static let all: [PhysicsCase] = {
    var cases: [PhysicsCase] = []
    var places: [String: Int] = [:]
    for case .success(let more) in files.map(read) {
      for item in more {
        if let place = places[item.id] {
          cases[place] = item
        } else {
          places[item.id] = cases.count
          cases.append(item)
        }
      }
    }
    return cases
  }()

  /// The errors that occurred when the case files were read.
  static let problems: [String] = files.map(read).compactMap {
    if case .failure(let problem) = $0 { return problem.description }
    return nil
  }

  struct Problem: Error, CustomStringConvertible { let description: String }

  static let files: [URL] = {
    let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    var files = [tests.appending(path: "Fixtures/physics_cases.json")]
    guard let folder = ProcessInfo.processInfo.environment["CAROM_CASES"], !folder.isEmpty else {
      return files
    }
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    for name in names.sorted() where name.hasSuffix(".json") {
      files.append(URL(filePath: folder).appending(path: name))
    }
    return files
  }()

  /// Reads the cases of a file. A file without the key `cases` has none.
  private static func read(_ file: URL) -> Result<[PhysicsCase], Problem> {
    guard let data = try? Data(contentsOf: file),
      let json = try? JSONDecoder().decode(JSON.self, from: data)
    else { return .failure(Problem(description: "cannot read \(file.path)")) }
    guard json.has("cases") else { return .success([]) }
    guard let list = json["cases"].list else {
      return .failure(Problem(description: "\(file.path): cases is no list"))
    }
    let cases = list.compactMap(PhysicsCase.init)
    guard cases.count == list.count else {
      return .failure(Problem(description: "\(file.path): a case without id or kind"))
    }
    return .success(cases)
  }
}
