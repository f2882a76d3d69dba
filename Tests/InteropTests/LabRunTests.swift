import Testing

/// Tests of network changes, between hosts that run our peer process.
@Suite(.timeLimit(.minutes(1)), .enabled(if: Peers.lab, Peers.labIsNeeded)) struct LabRunTests {
  private static let type = DiscoveryInteropTests.type

  @Test func `hosts with only link-local addresses find each other`() async throws {
    let environment = ["LAN_NET4": "169.254", "LAN_NET6": "none"]
    try await Lab.with(hosts: 2, environment: environment) { lab in
      let browse = try lab.startPeer("h1", "browse", Self.type)
      let ours = try lab.startPeer("h2", "publish", "far", Self.type, "7777")
      let line = try await browse.line(containing: "resolved", "far")
      #expect(line.contains("169.254.0.2:7777"))
      #expect(try line.contains(Regex("\\[fe80::[0-9a-f:]+%[0-9]+\\]:7777")))
      ours.send("seats=2/2")
      _ = try await browse.line(containing: "updated", "seats=2/2")
    }
  }

  @Test func `services are removed when a cable is cut and added when it is restored`() async throws
  {
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

  @Test func `a publisher's new address and new interface are found`() async throws {
    try await Lab.with(hosts: 2, environment: Family.v4.environment) { lab in
      try await lab.change("attach", "h2", "1")
      let ours = try lab.startPeer("h1", "publish", "near", Self.type, "7777")
      _ = try await ours.line(containing: "established")
      try await lab.run("h1", "ip", "addr", "del", "10.77.0.1/24", "dev", "eth0")
      try await lab.run("h1", "ip", "addr", "add", "10.77.0.99/24", "dev", "eth0")
      let browse = try lab.startPeer("h2", "browse", Self.type)
      let line = try await browse.line(containing: "resolved", json("near"), "10.77.0.99:7777")
      #expect(!line.contains("10.77.0.1:7777"))
      try await lab.change("cut", "h2")
      try await lab.change("attach", "h1", "1")
      let other = try lab.startPeer("h2", "browse", Self.type)
      _ = try await other.line(containing: "resolved", json("near"), "10.77.1.1:7777")
    }
  }

  @Test func `two hosts with one name end as "X" and "X (2)"`() async throws {
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

  @Test func `when two networks are joined, services with the same name are renamed`() async throws
  {
    try await Lab.with(hosts: 2) { lab in
      try await lab.change("attach", "h2", "1")
      try await lab.change("detach", "h2", "0")
      let publishers = try ["h1", "h2"].map {
        try lab.startPeer($0, "publish", "X", Self.type, "7777")
      }
      for ours in publishers { _ = try await ours.line(containing: "established", json("X")) }
      try await lab.change("join", "0", "1")
      let browse = try lab.startPeer("h1", "browse", Self.type)
      try await browse.lines(containing: [
        ["resolved", json("X")], ["resolved", json("X (2)")],
      ])
    }
  }

  @Test func `two interfaces of a host on one network do not conflict`() async throws {
    try await Lab.with(hosts: 2) { lab in
      try await lab.change("attach", "h1", "1")
      try await lab.change("join", "0", "1")
      let ours = try lab.startPeer("h1", "publish", "X", Self.type, "7777")
      _ = try await ours.line(containing: "established", json("X"))
      let browse = try lab.startPeer("h2", "browse", Self.type)
      _ = try await browse.line(containing: "resolved", json("X"))
      ours.send("seats=2/2")
      _ = try await browse.line(containing: "updated", json("X"), "seats=2/2")
      ours.endInput()
      _ = try await ours.line(containing: "withdrawn")
      #expect(!ours.transcript.contains("renamed"))
    }
  }
}
