import Testing

@testable import CaromTransport

@Suite struct HTTPRequestTests {
  private func parse(_ lines: [String]) throws(HTTPRequest.Failure) -> HTTPRequest {
    try HTTPRequest(head: Array((lines.map { "\($0)\r\n" }.joined() + "\r\n").utf8))
  }

  @Test func `a request has its method, target and fields`() throws {
    let request = try parse([
      "GET /carom?room=1 HTTP/1.1", "Host: \t table:7777 ", "Connection: keep-alive, Upgrade",
      "CONNECTION:close,", "X:",
    ])
    #expect(request.method == .get && request.target == "/carom?room=1" && request.isVersion11)
    #expect(request.values(of: "host") == ["table:7777"])
    #expect(request.list(of: "connection") == ["keep-alive", "Upgrade", "close"])
    #expect(request.values(of: "x") == [""] && request.values(of: "origin") == [])
    #expect(try parse(["HEAD / HTTP/1.0"]).method == .head)
    #expect(try !parse(["HEAD / HTTP/1.0"]).isVersion11)
    #expect(try parse(["POST / HTTP/1.1"]).method == .other)
  }

  /// http_parser reports no second value if the first line of a folded value is empty.
  @Test(arguments: [
    ["Host:", " table"], ["Host:", "\ttable"], ["Host: table", " evil"], ["Host: ", " table"],
  ])
  func `a folded value is malformed, also one whose first line is empty`(lines: [String]) {
    #expect(throws: HTTPRequest.Failure.malformed) { try parse(["GET / HTTP/1.1"] + lines) }
  }

  @Test(arguments: [
    "Host table", "Host : table", " Host: table", "Ho st: table", ": table", "Host: a\0b",
    "Host: a\rb", "Host: a\nb", "Hos\u{E9}: a", "Host: a\u{7F}",
  ])
  func `a line that parsers disagree about is malformed`(line: String) {
    #expect(throws: HTTPRequest.Failure.malformed) { try parse(["GET / HTTP/1.1", line]) }
  }

  @Test func `a request has at most 64 fields`() throws {
    let lines = (0..<64).map { "X\($0): 1" }
    #expect(try parse(["GET / HTTP/1.1"] + lines).fields.count == 64)
    #expect(throws: HTTPRequest.Failure.tooManyFields) {
      try parse(["GET / HTTP/1.1"] + lines + ["Y: 1"])
    }
  }

  @Test func `a head without its empty line is malformed`() {
    #expect(throws: HTTPRequest.Failure.malformed) {
      try HTTPRequest(head: Array("GET / HTTP/1.1\r\nHost: table\r\n".utf8))
    }
    #expect(throws: HTTPRequest.Failure.malformed) { try HTTPRequest(head: []) }
  }
}
