import CaromCore
import CaromGroup
import Foundation
import Testing

/// Compares the messages of a group's leader, roster and ledger with the vectors in `group.txt`.
@Suite struct GroupVectorTests {
  private static let messages = GroupVectors.elections + GroupVectors.ledger

  @Test func `messages of the roster, the election and the ledger have the bytes of the vectors`()
    throws
  {
    let vectors = try WireVectors.load("group.txt")
    let names = Self.messages.map(\.name) + GroupVectors.tables.map(\.name)
    #expect(vectors.keys.sorted() == names.sorted())
    for vector in Self.messages {
      let bytes = try #require(vectors[vector.name])
      let message = vector.message
      #expect(message.encoded == bytes, "\(vector.name)")
      #expect(ReplicaMessage(decoding: bytes.span, on: message.channel) == message)
      for count in bytes.indices {
        let cut = Array(bytes.prefix(count))
        #expect(ReplicaMessage(decoding: cut.span, on: message.channel) == nil)
      }
    }
    for (name, table, _) in GroupVectors.tables {
      let bytes = try #require(vectors[name])
      #expect(table.encoded == bytes, "\(name)")
      #expect(try SequenceTable(decoding: bytes.span) == table)
    }
  }

  @Test func `there is a vector of every kind of message of the ledger`() throws {
    let vectors = try WireVectors.load("group.txt")
    let kinds = Set(GroupVectors.ledger.compactMap { vectors[$0.name]?.first })
    #expect(kinds == Set(1...12))
  }

  @Test(
    .enabled(if: Python.executable != nil, "python3 is not on the PATH"), .timeLimit(.minutes(1)))
  func `a reader in Python that was written from the page reads the vectors of groups`()
    async throws
  {
    let output = try await Python.run("groups.py", WireVectors.folder.appending(path: "group.txt"))
    let lines = Dictionary(
      uniqueKeysWithValues: output.split(separator: "\n").compactMap { line in
        line.firstRange(of: ": ").map {
          (String(line[..<$0.lowerBound]), String(line[$0.upperBound...]))
        }
      })
    var expected = ["groups": "Votes is 901daa925db016d2"]
    for vector in Self.messages { expected[vector.name] = vector.line }
    for (name, _, line) in GroupVectors.tables { expected[name] = line }
    #expect(lines == expected)
  }
}
