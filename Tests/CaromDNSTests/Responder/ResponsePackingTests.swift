import CaromCore
import Testing

@testable import CaromDNS

/// How answers and their additional records are packed into messages (RFC 6762 §17, RFC 6763 §12).
@Suite struct ResponsePackingTests {
  /// A record that takes `bytes` bytes in a message, beyond the first use of its name.
  private func makeRecord(_ number: Int, _ bytes: Int, type: UInt16 = 999) -> Record {
    let data = [UInt8](repeating: UInt8(number), count: bytes - 12)
    return Record("x.local", .raw(RecordType(rawValue: type), data), timeToLive: 120)
  }

  /// The numbers of answers and of all records in each message.
  private func counts(_ responses: [Response]) -> [[Int]] {
    responses.map { [$0.answerCount, $0.records.count] }
  }

  @Test func `a message is filled to its limit, and not a byte more`() {
    // The header has 12 bytes, and the name 9 where it is written first, else 2.
    let records = (0..<10).map { makeRecord($0, 100) }
    for (limit, expected) in [
      (12 + 7 + 1_000, [[10, 10]]), (12 + 7 + 999, [[8, 8], [2, 2]]),
      (12 + 7 + 100, Array(repeating: [1, 1], count: 10)),
    ] {
      let responses = Response.pack(records, limit: limit)
      #expect(counts(responses) == expected)
      #expect(responses.flatMap(\.records) == records)
      #expect(responses.allSatisfy { $0.payload.count <= limit })
    }
    #expect(Response.pack([], limit: 1_000).isEmpty)
  }

  @Test func `each message has the additional records of its own answers`() {
    let records = (0..<4).map { makeRecord($0, 300) }
    let responses = Response.pack(records, limit: 1_000) { answers in
      answers.map { answer in
        guard case .raw(_, let data) = answer.data else { return answer }
        return Record("y.local", .text([1, data[0]]), timeToLive: 7)
      }
    }
    #expect(responses.flatMap { $0.records.prefix($0.answerCount) } == records)
    for response in responses {
      let answers = response.records.prefix(response.answerCount)
      let added = response.records.dropFirst(response.answerCount)
      #expect(added.count == answers.count)
      #expect(added.map(\.timeToLive).allSatisfy { $0 == 7 } && response.payload.count <= 1_000)
    }
  }

  @Test func `an answer that exceeds the limit is sent alone, in a longer message`() {
    let records = [makeRecord(1, 100), makeRecord(2, 2_000), makeRecord(3, 100)]
    let extra = makeRecord(4, 50, type: 1_000)
    let responses = Response.pack(records, limit: 500) { _ in [extra] }
    #expect(responses.flatMap { $0.records.prefix($0.answerCount) } == records)
    let long = responses.filter { $0.payload.count > 500 }
    #expect(long.map(\.records) == [[records[1]]] && long[0].payload.count == 12 + 7 + 2_000)
  }

  @Test func `of the additional records of one answer, sets that do not fit are left out whole`() {
    let answer = makeRecord(1, 200)
    let large = [makeRecord(2, 150, type: 1_000), makeRecord(3, 150, type: 1_000)]
    let small = makeRecord(4, 60, type: 1_001)
    let responses = Response.pack([answer], limit: 12 + 7 + 400) { _ in large + [small] }
    #expect(responses.map(\.records) == [[answer, small]])
    #expect(counts(responses) == [[1, 2]])
  }
}
