import CaromCore
import CaromTransport
import Synchronization
import Testing

@testable import CaromSession

/// The resources of a host, whose content is made for each request.
@Suite(.timeLimit(.minutes(1))) struct ResourceTests {
  private let local = Endpoint(.v4(0x0A00_0001), port: 7777)

  /// Returns the response to a request, which is not for a WebSocket.
  private func respond(
    _ options: BrowserOptions, method: String = "GET", path: String = "/health",
    host: String = "10.0.0.1"
  ) throws -> HTTPResponse {
    let head = "\(method) \(path) HTTP/1.1\r\nHost: \(host)\r\n\r\n"
    let policy = DoorPolicy(options: options, hostName: "den.home.arpa")
    let answer = policy.answer(try HTTPRequest(head: Array(head.utf8)), at: local)
    guard case .respond(let response) = answer else { throw CancellationError() }
    return response
  }

  private func text(_ response: HTTPResponse) -> String {
    String(decoding: response.encoded, as: UTF8.self)
  }

  @Test func `a resource is made for each request, and stands before a page`() throws {
    let count = Locked(0)
    let options = BrowserOptions(
      pages: ["/health": .init(text: "page")],
      resources: [
        "/health": {
          let number = count.withLock { count in
            count += 1
            return count
          }
          return .init(text: "\(number)")
        }
      ])
    for number in 1...2 {
      let response = try respond(options, path: "/health?verbose")
      #expect(response.status == .ok && response.body == Array("\(number)".utf8))
      #expect(text(response).contains("\r\nCache-Control: no-store\r\n"))
    }
    let head = try respond(options, method: "HEAD")
    #expect(text(head).contains("\r\nContent-Length: 1\r\n"))
    #expect(text(head).hasSuffix("\r\n\r\n"))
  }

  @Test func `a request that is refused makes nothing`() throws {
    let options = BrowserOptions(
      resources: [
        "/health": {
          Issue.record("the resource was made")
          return .init(text: "")
        }
      ])
    #expect(try respond(options, host: "elsewhere.example").status == .misdirectedRequest)
    #expect(try respond(options, method: "POST").status == .methodNotAllowed)
    #expect(try respond(options, path: "/health/").status == .notFound)
  }

  @Test func `a resource that is not available has the status 503`() throws {
    let options = BrowserOptions(
      resources: ["/health": { .init(text: "late\n", isAvailable: false) }])
    let response = try respond(options)
    #expect(text(response).hasPrefix("HTTP/1.1 503 Service Unavailable\r\n"))
    #expect(text(response).hasSuffix("\r\n\r\nlate\n"))
  }

  @Test func `content that is too long is an error`() throws {
    let limit = BrowserOptions.resourceSizeLimit
    func response(_ count: Int) throws -> HTTPResponse {
      let options = BrowserOptions(
        resources: [
          "/health": { .init([UInt8](repeating: 1, count: count), mediaType: "image/png") }
        ])
      return try respond(options)
    }
    #expect(try response(limit).status == .ok)
    let refused = try response(limit + 1)
    #expect(text(refused).hasPrefix("HTTP/1.1 500 Internal Server Error\r\n"))
    #expect(refused.body.count < 100)
  }

  @Test func `a host answers a request for a resource on its port`() async throws {
    try await withNetworkLoop { loop in
      let options = BrowserOptions(resources: ["/health": { .init(text: "ok\n") }])
      try await Session.host(
        as: makePeer("host"), on: [.loopback4], over: [.stream, .webSocket], browsers: options,
        loop: loop
      ) { _, port in
        let host = Endpoint(.loopback4, port: port)
        let answer = try await Task(executorPreference: loop) {
          try await Self.answer(from: host, on: loop)
        }.value
        #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n"))
        #expect(answer.hasSuffix("\r\n\r\nok\n"))
      }
    }
  }

  /// Returns all that a host sends to a stream on which "/health" is requested.
  private static func answer(from host: Endpoint, on loop: NetworkLoop) async throws -> String {
    let stream = try await TCPStream.connect(to: [host], on: loop)
    try stream.write(Array("GET /health HTTP/1.1\r\nHost: \(host)\r\n\r\n".utf8))
    let (received, continuation) = AsyncStream.makeStream(of: [UInt8].self)
    stream.setHandler { event in
      switch event {
      case .bytes(let bytes):
        var copy: [UInt8] = []
        copy.append(copying: bytes)
        continuation.yield(copy)
      case .end, .closed: continuation.finish()
      case .writable: break
      }
    }
    var answer: [UInt8] = []
    for await bytes in received { answer += bytes }
    stream.close()
    return String(decoding: answer, as: UTF8.self)
  }
}
