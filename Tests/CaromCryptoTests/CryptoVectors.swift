import CaromCrypto
import Foundation

/// The published test vectors of one type: those in `Tests/Fixtures` and, if `CAROM_CASES` names a
/// folder, those in its JSON files. A file has an object with the list `vectors`.
struct CryptoVectors<Vector: Decodable & Sendable>: Sendable {
  private(set) var vectors: [Vector] = []
  /// The files and vectors that could not be read.
  private(set) var problems: [String] = []

  /// Reads the vectors that have the field `key`, which tells them from those of other types.
  init(
    withField key: String, from name: String,
    folder: String? = ProcessInfo.processInfo.environment["CAROM_CASES"]
  ) {
    let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    var files = [tests.appending(path: "Fixtures/\(name)")]
    if let folder, !folder.isEmpty {
      do {
        files += try FileManager.default.contentsOfDirectory(atPath: folder)
          .filter { $0.hasSuffix(".json") }.sorted()
          .map { URL(filePath: folder).appending(path: $0) }
      } catch { problems.append("\(folder): \(error)") }
    }
    for file in files {
      do { try read(file, key) } catch { problems.append("\(file.path): \(error)") }
    }
  }

  private mutating func read(_ file: URL, _ key: String) throws {
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    let json = try JSONSerialization.jsonObject(with: Data(contentsOf: file))
    // The folder may also contain files with other cases, which have another top key.
    guard let content = (json as? [String: Any])?["vectors"] else { return }
    guard let list = content as? [[String: Any]] else {
      throw DecodingError.dataCorrupted(
        .init(codingPath: [], debugDescription: "vectors is not a list of objects"))
    }
    for vector in list where vector[key] != nil {
      let data = try JSONSerialization.data(withJSONObject: vector)
      vectors.append(try decoder.decode(Vector.self, from: data))
    }
  }
}

/// Bytes that a test vector writes in hexadecimal.
struct HexBytes: Decodable, Equatable {
  var bytes: [UInt8]

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  init(from decoder: any Decoder) throws {
    let digits = Array(try decoder.singleValueContainer().decode(String.self).utf8)
    bytes = try stride(from: 0, to: digits.count, by: 2).map { index in
      guard index + 1 < digits.count,
        let byte = UInt8(String(decoding: digits[index...index + 1], as: UTF8.self), radix: 16)
      else {
        throw DecodingError.dataCorrupted(
          .init(codingPath: decoder.codingPath, debugDescription: "not hexadecimal"))
      }
      return byte
    }
  }

  var secret: SecretBytes { SecretBytes(bytes) }
}

extension SecretBytes {
  convenience init(_ bytes: [UInt8]) { self.init(copying: bytes.span) }

  /// Creates `count` bytes, all of which are `byte`.
  convenience init(repeating byte: UInt8, count: Int = 32) {
    self.init([UInt8](repeating: byte, count: count))
  }
}
