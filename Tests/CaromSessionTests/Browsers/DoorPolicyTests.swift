import CaromCore
import CaromTransport
import TestTLS
import Testing

@testable import CaromSession

@Suite struct DoorPolicyTests {
  private let options = BrowserOptions(
    pages: ["/": .init([1, 2, 3], mediaType: "text/html")], hostNames: ["Game.Example"],
    origins: ["https://Pages.Example"])

  /// The status of the answer to a request for "/"; 101 for a WebSocket.
  private func status(
    host: String, origin: String? = nil, at local: IPAddress = .v4(0x0A00_0001),
    isTLS: Bool = false
  ) throws -> Int {
    let lines = ["GET / HTTP/1.1", "Host: \(host)"] + (origin.map { ["Origin: \($0)"] } ?? [])
    let head = Array((lines.map { "\($0)\r\n" }.joined() + "\r\n").utf8)
    let policy = DoorPolicy(options: options, hostName: "den.home.arpa")
    let endpoint = Endpoint(local, port: 7777)
    switch policy.answer(try HTTPRequest(head: head), at: endpoint, isTLS: isTLS) {
    case .respond(let response): return response.status.rawValue
    case .upgrade: return 101
    }
  }

  @Test(arguments: [
    "10.0.0.1:7777", "10.0.0.1", "10.0.0.1:", "10.0.0.1:80", "den.home.arpa:7777", "DEN.local",
    "game.example:443",
  ])
  func `a host answers to its address and its names, whatever the port`(host: String) throws {
    #expect(try status(host: host) == 200)
  }

  @Test(arguments: [
    "10.0.0.2:7777", "10.0.0.1:+80", "10.0.0.1:-1", "10.0.0.1:65536", "10.0.0.1:8x", ":80", "",
    "[10.0.0.1", "den", "home.arpa", "game.example.evil.example", "localhost", "a@10.0.0.1",
    "10.0.0.1:80:80",
  ])
  func `a host does not answer to other names`(host: String) throws {
    #expect(try status(host: host) == 421)
  }

  @Test(.enabled(if: TestCertificate.program != nil, "openssl is missing"))
  func `a host answers to the names in its certificate`() throws {
    var options = options
    options.encryption = .init(try TestCertificate.load(), allowsPlaintext: true)
    let policy = DoorPolicy(options: options, hostName: "den")
    for (name, isOwn) in [("a.Table.example:7777", true), ("table.example", false)] {
      let request = try HTTPRequest(head: Array("GET / HTTP/1.1\r\nHost: \(name)\r\n\r\n".utf8))
      let answer = policy.answer(request, at: Endpoint(.loopback4, port: 7777))
      guard case .respond(let response) = answer else { continue }
      #expect(response.status == (isOwn ? .ok : .misdirectedRequest))
    }
  }

  @Test func `an IPv6 address stands in brackets, and localhost is for loopback alone`() throws {
    let address = try #require(IPAddress("fe80::1"))
    #expect(try status(host: "[fe80::1]:7777", at: address) == 200)
    #expect(try status(host: "[fe80:0::1]:", at: address) == 200)
    #expect(try status(host: "[fe80::2]", at: address) == 421)
    #expect(try status(host: "[fe80::1]7", at: address) == 421)
    #expect(try status(host: "localhost:7777", at: .loopback4) == 200)
    #expect(try status(host: "localhost", at: .loopback6) == 200)
  }

  @Test func `pages of other sites are refused`() throws {
    let host = "den.local:7777"
    for origin in ["http://den.local:7777", "https://DEN.local:7777", "https://pages.example"] {
      #expect(try status(host: host, origin: origin) == 200, "\(origin)")
    }
    for origin in ["http://den.local", "http://pages.example", "null", "", "http://den.local:1"] {
      #expect(try status(host: host, origin: origin) == 403, "\(origin)")
    }
  }

  @Test func `over TLS, a page in plaintext is not the host's own`() throws {
    let host = "den.local:7777"
    for origin in ["https://den.local:7777", "https://pages.example"] {
      #expect(try status(host: host, origin: origin, isTLS: true) == 200, "\(origin)")
    }
    #expect(try status(host: host, origin: "http://den.local:7777", isTLS: true) == 403)
  }

  @Test func `three bytes tell the protocols apart`() {
    #expect(StreamProtocol([0x16, 0]) == nil && StreamProtocol([]) == nil)
    #expect(StreamProtocol(Array("GET".utf8)) == .http)
    #expect(StreamProtocol([0x16, 3, 1]) == .tls)
    #expect(StreamProtocol([0x16, 3, 0]) == .frames)
    #expect(StreamProtocol([0, 0, 0, 9]) == .frames)
  }
}
