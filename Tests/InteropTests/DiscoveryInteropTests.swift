import Foundation
import Testing

/// Others on the same LAN find us and we find them, each in a host of its own.
@Suite(.timeLimit(.minutes(1))) struct DiscoveryInteropTests {
  private static let type = "_airhockey._udp"
  /// Apostrophe, accents, dot, backslash and emoji.
  private static let name = "L’été's v1.5 \\ 🏒"
  /// The same as avahi-browse prints it for programs.
  private static let avahiName =
    "L\\226\\128\\153\\195\\169t\\195\\169\\039s\\032v1\\.5\\032\\\\\\032\\240\\159\\143\\146"

  @Test(.enabled(if: Peers.avahi, "needs root, iproute2, avahi-daemon, avahi-utils and dbus"))
  func `avahi sees our service, resolves it, and sees it go`() async throws {
    try await Lab.with(hosts: 2) { lab in
      try await lab.startAvahi("h1")
      let browse = try lab.start("h1", "stdbuf", "-oL", "avahi-browse", "-rp", Self.type)
      let ours = try lab.startPeer("h2", "publish", Self.name, Self.type, "7777", "seats=1/2")
      _ = try await ours.line(containing: "established")
      let line = try await browse.line(containing: "=;eth0;", Self.avahiName)
      #expect(line.contains(";h2-carom.local;") && line.hasSuffix(";7777;\"seats=1/2\""))
      ours.endInput()
      _ = try await browse.line(containing: "-;eth0;", Self.avahiName)
    }
  }

  @Test(.enabled(if: Peers.avahi, "needs root, iproute2, avahi-daemon, avahi-utils and dbus"))
  func `we see avahi's service, resolve it, and see it go`() async throws {
    try await Lab.with(hosts: 2) { lab in
      let browse = try lab.startPeer("h1", "browse", Self.type)
      try await lab.startAvahi("h2")
      let theirs = try lab.startUntilInputEnds(
        "h2", "avahi-publish-service", Self.name, Self.type, "7777", "seats=1/2")
      let json = "\"name\":\"L’été's v1.5 \\\\ 🏒\""
      _ = try await browse.line(containing: "added", json)
      let line = try await browse.line(containing: "resolved", json)
      #expect(line.contains("10.77.0.2:7777") && line.contains("\"host\":\"h2.local\""))
      #expect(line.contains("seats=1/2"))
      theirs.endInput()
      _ = try await browse.line(containing: "removed", json)
    }
  }

  @Test(.enabled(if: Peers.avahi, "needs root, iproute2, avahi-daemon, avahi-utils and dbus"))
  func `beside avahi on one host both are seen, and it keeps its name`() async throws {
    try await Lab.with(hosts: 2) { lab in
      try await lab.startAvahi("h1")
      let browse = try lab.startPeer("h2", "browse", Self.type)
      let ours = try lab.startPeer("h1", "publish", "ours", Self.type, "7777")
      _ = try await ours.line(containing: "established", "\"ours\"")
      let theirs = try lab.start("h1", "avahi-publish-service", "theirs", Self.type, "8888")
      _ = try await theirs.line(containing: "Established", "'theirs'")
      var hosts: Set<String> = []
      for _ in 0..<2 {
        let line = try await browse.line(containing: "resolved", "10.77.0.1:")
        hosts.formUnion(["h1.local", "h1-carom.local"].filter { line.contains("\"\($0)\"") })
      }
      #expect(hosts == ["h1.local", "h1-carom.local"])
      let other = try lab.start("h1", "stdbuf", "-oL", "avahi-browse", "-rp", Self.type)
      _ = try await other.line(containing: "=;eth0;", ";theirs;", ";h1.local;")
    }
  }

  @Test(.enabled(if: Peers.zeroconf, "needs root, iproute2 and python-zeroconf"))
  func `python-zeroconf sees our service, resolves it, and sees it go`() async throws {
    try await Lab.with(hosts: 2) { lab in
      let ours = try lab.startPeer("h1", "publish", Self.name, Self.type, "7777", "seats=1/2")
      _ = try await ours.line(containing: "established")
      let browse = try lab.start("h2", "python3", "zc.py", "browse", Self.type, "60")
      _ = try await browse.line(containing: "ADD", Self.name)
      let line = try await browse.line(containing: "RESOLVED", Self.name)
      #expect(line.contains("10.77.0.1"))
      ours.endInput()
      _ = try await browse.line(containing: "REMOVE", Self.name)
    }
  }

  @Test(.enabled(if: Peers.zeroconf, "needs root, iproute2 and python-zeroconf"))
  func `we see python-zeroconf's service, resolve it, and see it go`() async throws {
    try await Lab.with(hosts: 2) { lab in
      let browse = try lab.startPeer("h1", "browse", Self.type)
      let theirs = try lab.start("h2", "python3", "zc.py", "pub", "Zed's 1.0", Self.type, "7777")
      _ = try await browse.line(containing: "added", "Zed's 1.0")
      let line = try await browse.line(containing: "resolved", "Zed's 1.0")
      #expect(line.contains("10.77.0.2:7777"))
      theirs.endInput()
      _ = try await browse.line(containing: "removed", "Zed's 1.0")
    }
  }

  @Test(.enabled(if: Peers.lab, "needs root and iproute2"))
  func `hosts with nothing but link-local addresses find each other`() async throws {
    let environment = ["LAN_NET4": "169.254", "LAN_NET6": "none"]
    try await Lab.with(hosts: 2, environment: environment) { lab in
      let browse = try lab.startPeer("h1", "browse", Self.type)
      let ours = try lab.startPeer("h2", "publish", "far", Self.type, "7777")
      let line = try await browse.line(containing: "resolved", "far")
      #expect(line.contains("169.254.0.2:7777"))
      #expect(try line.contains(Regex("\\[fe80::[0-9a-f:]+%[0-9]+\\]:7777")))
      ours.say("seats=2/2")
      _ = try await browse.line(containing: "updated", "seats=2/2")
    }
  }

  @Test(.enabled(if: Peers.lab, "needs root and iproute2"))
  func `a cable that comes back brings the services back`() async throws {
    try await Lab.with(hosts: 2) { lab in
      let ours = try lab.startPeer("h2", "publish", "far", Self.type, "7777")
      _ = try await ours.line(containing: "established")
      let browse = try lab.startPeer("h1", "browse", Self.type)
      _ = try await browse.line(containing: "added", "far")
      try await lab.change("cut", "h1")
      _ = try await browse.line(containing: "removed", "far")
      try await lab.change("heal", "h1")
      _ = try await browse.line(containing: "added", "far")
      _ = try await browse.line(containing: "resolved", "far")
    }
  }

  @Test(.enabled(if: Peers.lab, "needs root and iproute2"))
  func `two hosts with one name end as "X" and "X (2)"`() async throws {
    try await Lab.with(hosts: 3) { lab in
      let browse = try lab.startPeer("h3", "browse", Self.type)
      let first = try lab.startPeer("h1", "publish", "X", Self.type, "7777")
      let second = try lab.startPeer("h2", "publish", "X", Self.type, "7777")
      let names = [
        try await first.line(containing: "established"),
        try await second.line(containing: "established"),
      ]
      #expect(names.count { $0.contains("\"X (2)\"") } == 1)
      #expect(names.count { $0.contains("\"X\"") } == 1)
      _ = try await browse.line(containing: "added")
      _ = try await browse.line(containing: "added")
    }
  }
}
