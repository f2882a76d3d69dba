import CaromCodec
import CaromCore
import Testing

@Suite struct DelimiterDecoderTests {
  @Test func `lines end at the delimiter`() throws {
    var decoder = DelimiterDecoder()
    decoder.receive(Array("GET /\r\nHost: x\r\n\r\nrest".utf8).span)
    #expect(try makeLines(&decoder) == ["GET /", "Host: x", ""])
    #expect(throws: DelimiterError.unexpectedEOF(got: 4)) { try decoder.finish() }
  }

  @Test(arguments: ["\r\n", "\n", "\r\n\r\n", "aab", "aa", "--x--"])
  func `every division into chunks gives the same lines`(delimiter: String) throws {
    let stream = Array(
      (["one", "", "aa", "two\r", "\r\r", "aaa", "-x-", "b--x-", "end"].joined(
        separator: delimiter) + delimiter).utf8)
    let delimiter = Array(delimiter.utf8)
    let expected = split(stream, at: delimiter)
    for size in 1...stream.count {
      var decoder = DelimiterDecoder(delimiter: delimiter)
      var lines: [[UInt8]] = []
      for start in stride(from: 0, to: stream.count, by: size) {
        decoder.receive(stream.span.extracting(start..<min(start + size, stream.count)))
        while let line = try decoder.next() { lines.append(line) }
      }
      #expect(lines == expected, "chunks of \(size)")
    }
  }

  @Test(arguments: 1...8) func `a line over the limit is an error, but one at the limit is not`(
    chunk: Int
  ) throws {
    for (length, fits) in [(5, true), (6, false), (50, false)] {
      var decoder = DelimiterDecoder(limit: 5)
      let stream = Array("ok\r\n".utf8) + [UInt8](repeating: 65, count: length) + [13, 10]
      for start in stride(from: 0, to: stream.count, by: chunk) {
        decoder.receive(stream.span.extracting(start..<min(start + chunk, stream.count)))
      }
      #expect(try decoder.next() == Array("ok".utf8))
      if fits {
        #expect(try decoder.next()?.count == length)
        try decoder.finish()
      } else {
        let error = DelimiterError.delimiterTooFar(limit: 5)
        #expect(throws: error) { try decoder.next() }
        decoder.receive([13, 10, 13, 10].span)
        #expect(throws: error) { try decoder.next() }
        #expect(throws: error) { try decoder.finish() }
      }
    }
  }

  @Test func `input without a delimiter fails at the limit`() {
    var decoder = DelimiterDecoder(limit: 100)
    for _ in 0..<1_000 { decoder.receive([UInt8](repeating: 13, count: 1_000).span) }
    #expect(throws: DelimiterError.delimiterTooFar(limit: 100)) { try decoder.next() }
  }

  @Test func `bytes after the last line are returned unchanged`() throws {
    var decoder = DelimiterDecoder(delimiter: Array("\r\n\r\n".utf8))
    decoder.receive(Array("a: 1\r\nb: 2\r\n\r\nbody\r\n\r\nmore".utf8).span)
    #expect(try decoder.next() == Array("a: 1\r\nb: 2".utf8))
    #expect(try decoder.drainRest() == Array("body\r\n\r\nmore".utf8))
    #expect(try decoder.next() == nil)
    #expect(try decoder.drainRest() == [], "each byte is returned once")
    try decoder.finish()
    decoder.receive(Array("c\r\n\r\n".utf8).span)
    #expect(try decoder.next() == Array("c".utf8))
  }

  private func makeLines(_ decoder: inout DelimiterDecoder) throws -> [String] {
    var lines: [String] = []
    while let line = try decoder.next() { lines.append(String(decoding: line, as: UTF8.self)) }
    return lines
  }

  /// A simple reference implementation: splits at the first occurrence of the delimiter.
  private func split(_ stream: [UInt8], at delimiter: [UInt8]) -> [[UInt8]] {
    var lines: [[UInt8]] = []
    var line: [UInt8] = []
    for byte in stream {
      line.append(byte)
      guard line.suffix(delimiter.count).elementsEqual(delimiter) else { continue }
      lines.append(line.dropLast(delimiter.count))
      line = []
    }
    return lines
  }
}
