import Foundation
import Testing

/// Further vectors in the folder that `CAROM_CASES` names.
struct CryptoVectorFolderTests {
  private let folder = FileManager.default.temporaryDirectory
    .appending(path: "carom-vectors-\(UUID().uuidString)")

  private func read(_ contents: [String: String]) throws -> CryptoVectors<HandshakeVector> {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    for (name, content) in contents {
      try Data(content.utf8).write(to: folder.appending(path: name))
    }
    return CryptoVectors(
      withField: "protocol_name", from: "noise_vectors.json", folder: folder.path)
  }

  private let more = """
    {"source": "another", "vectors": [
      {"suite": "CPACE-RISTR255-SHA512"},
      {"protocol_name": "Noise_NN_25519_ChaChaPoly_BLAKE2b", "init_prologue": "00",
       "init_ephemeral": "01", "resp_prologue": "00", "resp_ephemeral": "02",
       "handshake_hash": "03", "messages": []}
    ]}
    """

  @Test func `vectors of further files follow those of the project`() throws {
    let own = try read([:])
    let files = try read([
      "more.json": more, "physics.json": #"{"cases": []}"#, "notes.txt": "no JSON",
    ])
    #expect(own.problems == [] && files.problems == [])
    #expect(files.vectors.count == own.vectors.count + 1)
    #expect(files.vectors.last?.initEphemeral.bytes == [1])
  }

  @Test(arguments: ["{", #"{"vectors": 1}"#, #"{"vectors": [{"protocol_name": "Noise"}]}"#])
  func `a file that cannot be read is reported`(_ content: String) throws {
    let files = try read(["broken.json": content])
    #expect(files.problems.count == 1 && files.problems[0].contains("broken.json"))
  }

  @Test func `a folder that does not exist is reported`() {
    let files = CryptoVectors<HandshakeVector>(
      withField: "protocol_name", from: "noise_vectors.json", folder: folder.path)
    #expect(files.problems.count == 1 && !files.vectors.isEmpty)
  }
}
