import CaromCore
import CaromTransport
import Testing

@testable import CaromSession

@Suite struct DoorPolicyTests {
  private let options = BrowserOptions(
    pages: ["/": .init([1, 2, 3], mediaType: "text/html")], hostNames: ["Game.Example"],
    origins: ["https://Pages.Example"])

  /// The status of the answer to a request for "/"; 101 for a WebSocket.
  private func status(
    host: String, origin: String? = nil, at local: IPAddress = .v4(0x0A00_0001)
  ) throws -> Int {
    let lines = ["GET / HTTP/1.1", "Host: \(host)"] + (origin.map { ["Origin: \($0)"] } ?? [])
    let head = Array((lines.map { "\($0)\r\n" }.joined() + "\r\n").utf8)
    let policy = DoorPolicy(options: options, hostName: "den.home.arpa")
    switch policy.answer(try HTTPRequest(head: head), at: Endpoint(local, port: 7777)) {
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

  @Test func `three bytes tell the protocols apart`() {
    #expect(StreamProtocol([0x16, 0]) == nil && StreamProtocol([]) == nil)
    #expect(StreamProtocol(Array("GET".utf8)) == .http)
    #expect(StreamProtocol([0x16, 3, 1]) == .tls)
    #expect(StreamProtocol([0x16, 3, 0]) == .frames)
    #expect(StreamProtocol([0, 0, 0, 9]) == .frames)
  }
}
