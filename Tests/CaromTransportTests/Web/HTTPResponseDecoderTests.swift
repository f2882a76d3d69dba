import CaromCore
import Testing

@testable import CaromTransport

@Suite struct HTTPResponseDecoderTests {
  typealias Failure = HTTPResponseDecoder.Failure
  typealias Response = HTTPResponseDecoder.Response

  private static let limit = 64

  /// Reads `text` in parts that end at `cuts`, and then the end of the connection.
  private static func read(_ text: String, cuts: [Int] = []) throws(Failure) -> Response {
    var decoder = HTTPResponseDecoder(contentLimit: limit)
    let bytes = Array(text.utf8)
    var start = 0
    for end in cuts + [bytes.count] {
      if let response = try decoder.append(bytes[start..<end].span) { return response }
      start = end
    }
    return try decoder.end()
  }

  private static let head = "HTTP/1.1 200 OK\r\n"

  private static let responses: [(text: String, status: Int, content: String)] = [
    ("\(head)Content-Length: 2\r\n\r\n{}", 200, "{}"),
    ("HTTP/1.1 404 \r\ncontent-length:5\r\n\r\nabcdeREST", 404, "abcde"),
    ("HTTP/1.1 204 No Content\r\nContent-Length: 9\r\n\r\n", 204, ""),
    ("HTTP/1.0 500 Error\r\n\r\nuntil the end", 500, "until the end"),
    (
      "\(head)Transfer-Encoding: chunked\r\n\r\n3;x=1\r\nabc\r\n00A \r\n0123456789\r\n0\r\n\r\n",
      200, "abc0123456789"
    ),
    ("\(head)Transfer-Encoding: Chunked\r\n\r\n0\r\nX: 1\r\nY: 2\r\n\r\nREST", 200, ""),
  ]

  @Test(arguments: responses.indices)
  func `a response is the same wherever it is cut`(index: Int) throws {
    let (text, status, content) = Self.responses[index]
    let expected = Response(status: status, content: Array(content.utf8))
    #expect(try Self.read(text) == expected)
    for cut in 0...text.utf8.count { #expect(try Self.read(text, cuts: [cut]) == expected) }
    #expect(try Self.read(text, cuts: Array(0...text.utf8.count)) == expected)
  }

  @Test(arguments: [
    "", head, "\(head)Content-Length: 2\r\n\r\n{", "\(head)Transfer-Encoding: chunked\r\n\r\n",
    "\(head)Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n",
    "\(head)Transfer-Encoding: chunked\r\n\r\n0\r\nX: 1\r\n",
  ])
  func `a response that ends too early is incomplete`(text: String) {
    #expect(throws: Failure.incomplete) { try Self.read(text) }
  }

  @Test(arguments: [
    "220 mail.example ready\r\n", "H2", "HTTP/2.0 200 OK\r\n\r\n", "HTTP/1.1 100 Continue\r\n\r\n",
    "HTTP/1.1 600 Odd\r\n\r\n", "HTTP/1.1 200 OK\n\n\r\n\r\n", "GET / HTTP/1.1\r\n\r\n",
    "\(head)Content-Length: -1\r\n\r\n", "\(head)Content-Length: 2x\r\n\r\n{}",
    "\(head)Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
    "\(head)Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}",
    "\(head)Content-Length: 99999999999999999999\r\n\r\n",
    "\(head)Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "\(head)Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", "\(head)X : 1\r\n\r\n",
    "\(head)Transfer-Encoding: chunked\r\n\r\n\r\n",
    "\(head)Transfer-Encoding: chunked\r\n\r\n;\r\n",
    "\(head)Transfer-Encoding: chunked\r\n\r\n2\n{}\r\n",
    "\(head)Transfer-Encoding: chunked\r\n\r\n2\r\n{}\n0\r\n",
    "\(head)Transfer-Encoding: chunked\r\n\r\n-2\r\n{}\r\n",
  ])
  func `whatever parsers disagree about is malformed`(text: String) {
    #expect(throws: Failure.malformed) { try Self.read(text) }
  }

  @Test func `the content, a head and a line of a chunk are bounded`() {
    let long = String(repeating: "x", count: Self.limit + 1)
    let chunked = "\(Self.head)Transfer-Encoding: chunked\r\n\r\n"
    for text in [
      "\(Self.head)Content-Length: 65\r\n\r\n", "\(Self.head)\r\n\(long)", "\(chunked)41\r\n",
      "\(chunked)20\r\n\(long.prefix(32))\r\n21\r\n", "\(chunked)ffffffffffffffffffff\r\n",
      "\(chunked)2\r\n{}0\r\n", "\(chunked)1;" + String(repeating: "x", count: 256),
      "\(chunked)0\r\n" + String(repeating: "X: 1\r\n", count: 2_000),
      Self.head + String(repeating: "X: 1\r\n", count: 65) + "\r\n",
      Self.head + "X: " + String(repeating: "x", count: HTTPRequest.headLimit),
    ] {
      #expect(throws: Failure.tooLong, "\(text.prefix(80))") { try Self.read(text) }
    }
  }

  /// Reads `bytes` in parts that end at `cuts`, and then the end of the connection.
  private static func outcome(_ bytes: [UInt8], cuts: [Int]) -> Result<Response, Failure> {
    var decoder = HTTPResponseDecoder(contentLimit: limit)
    var start = 0
    do throws(Failure) {
      for end in cuts + [bytes.count] {
        if let response = try decoder.append(bytes[start..<end].span) { return .success(response) }
        start = end
      }
      return .success(try decoder.end())
    } catch {
      return .failure(error)
    }
  }

  @Test func `damaged responses are read the same in one part and in many`() {
    var generator = SeededGenerator(seed: 20_261)
    let bytes = Array("\r\n:;0129afAF hT-".utf8)
    var successes = 0
    for _ in 0..<20_000 {
      var damaged = Array(Self.responses.randomElement(using: &generator)!.text.utf8)
      for _ in 0..<Int.random(in: 0...3, using: &generator) {
        let index = damaged.indices.randomElement(using: &generator)!
        switch Int.random(in: 0...2, using: &generator) {
        case 0: damaged[index] = bytes.randomElement(using: &generator)!
        case 1: damaged.insert(bytes.randomElement(using: &generator)!, at: index)
        default: damaged.remove(at: index)
        }
      }
      let whole = Self.outcome(damaged, cuts: [])
      let cuts = (0..<4).map { _ in Int.random(in: 0...damaged.count, using: &generator) }.sorted()
      #expect(Self.outcome(damaged, cuts: cuts) == whole, "\(damaged) at \(cuts)")
      guard case .success(let response) = whole else { continue }
      successes += 1
      #expect(response.content.count <= Self.limit && 200...599 ~= response.status)
    }
    #expect((1_000..<20_000).contains(successes))
  }

  @Test func `content of the greatest length is read`() throws {
    let longest = String(repeating: "x", count: Self.limit)
    #expect(try Self.read("\(Self.head)\r\n\(longest)").content.count == Self.limit)
    #expect(
      try Self.read("\(Self.head)Content-Length: 64\r\n\r\n\(longest)").content.count == Self.limit)
    let chunked = "\(Self.head)Transfer-Encoding: chunked\r\n\r\n40\r\n\(longest)\r\n0\r\n\r\n"
    #expect(try Self.read(chunked).content.count == Self.limit)
  }
}
