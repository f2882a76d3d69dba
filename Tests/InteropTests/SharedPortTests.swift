import Foundation
import Testing

/// Tests with several programs on one host that use port 5353.
@Suite(.timeLimit(.minutes(1)), .enabled(if: Peers.lab, Peers.labIsNeeded))
struct SharedPortTests {
  private static let type = "_airhockey._udp"

  @Test(.enabled(if: Peers.avahi, Peers.avahiIsNeeded))
  func `R1 R7: three of our processes next to avahi find all services and are found`()
    async throws
  {
    try await Lab.with(hosts: 2) { lab in
      try await lab.startAvahi("h1")
      var all = [try lab.startPeer("h2", "publish", "far", Self.type, "7000")]
      for name in ["one", "two", "three"] {
        all.append(try lab.startPeer("h1", "publish", name, Self.type, "7001"))
      }
      for process in all { _ = try await process.line(containing: "established") }
      let browsers = try ["h1", "h1", "h2"].map { try lab.startPeer($0, "browse", Self.type) }
      for browser in browsers {
        var found: Set<String> = []
        while found.count < 4 {
          let line = try await browser.line(containing: "resolved")
          found.formUnion(["far", "one", "two", "three"].filter { line.contains("\"\($0)\"") })
        }
      }
      let avahi = try lab.start("h1", "stdbuf", "-oL", "avahi-browse", "-p", Self.type)
      for _ in 0..<4 { _ = try await avahi.line(containing: "+;eth0;IPv4;") }
    }
  }

  @Test func `R7: one of two processes receives unicast; the other takes over when it ends`()
    async throws
  {
    try await Lab.with(hosts: 2) { lab in
      let first = try lab.startPeer("h1", "publish", "one", Self.type, "7001")
      let second = try lab.startPeer("h1", "publish", "two", Self.type, "7002")
      for process in [first, second] { _ = try await process.line(containing: "established") }
      func holders() async throws -> String {
        try await lab.run("h1", "bash", "-c", "ss -uln | grep -c '10.77.0.1:5353'; true")
      }
      #expect(!(try await holders()).hasPrefix("2"))
      first.endInput()
      _ = try await first.line(containing: "withdrawn")
      let browser = try lab.startPeer("h1", "browse", Self.type)
      _ = try await browser.line(containing: "added", "two")
      #expect(try await holders().hasPrefix("1"))
    }
  }

  @Test func `the error says that another program has exclusive use of the port`() async throws {
    try await Lab.with(hosts: 1) { lab in
      let script = """
        import socket
        s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
        s.bind(("::", 5353))
        print("bound", flush=True)
        input()
        """
      let greedy = try lab.start("h1", "python3", "-c", script)
      _ = try await greedy.line(containing: "bound")
      let ours = try lab.startPeer("h1", "publish", "X", Self.type, "7001")
      ours.endInput()
      let line = try await ours.line(containing: "error")
      #expect(line.contains("has exclusive use of UDP port 5353"))
    }
  }

  @Test func `without a carrier there is no multicast interface`() async throws {
    try await Lab.with(hosts: 1) { lab in
      try await lab.change("cut", "h1")
      let ours = try lab.startPeer("h1", "publish", "X", Self.type, "7001")
      ours.endInput()
      let line = try await ours.line(containing: "error")
      #expect(line.contains("no interface can carry multicast"))
    }
  }
}
