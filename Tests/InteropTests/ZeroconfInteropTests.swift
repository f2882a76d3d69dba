import Testing

/// Interoperability with python-zeroconf.
@Suite(.timeLimit(.minutes(1))) struct ZeroconfInteropTests {
  private static let type = DiscoveryInteropTests.type
  private static let names = DiscoveryInteropTests.names

  @Test(.enabled(if: Peers.zeroconf, Peers.zeroconfIsNeeded), arguments: Family.allCases)
  func `python-zeroconf finds our services, TXT records, subtypes, new names and goodbyes`(
    _ family: Family
  ) async throws {
    try await Lab.with(hosts: 2, environment: family.environment) { lab in
      let ours = try lab.publish("h1", Self.names, Self.type)
      let browse = try lab.zeroconf("h2", family, "browse", Self.type, "-")
      let narrow = try lab.zeroconf("h2", family, "browse", "_chess._sub.\(Self.type)", "-")
      let address = family == .v6 ? "'fd77::1'" : "'10.77.0.1'"
      try await browse.lines(
        containing: Self.names.map {
          ["RESOLVED", "\($0).\(Self.type)", address, "7777 seats=1/2"]
        })
      try await narrow.lines(containing: Self.names.map { ["ADD", "\($0)."] })
      ours.send("seats=2/2")
      try await browse.lines(containing: [["\(Self.names[0]).\(Self.type)", "seats=2/2"]])
      ours.send("rename\tOther")
      try await browse.lines(containing: [
        ["REMOVE", "Plain.\(Self.type)"], ["RESOLVED", "Other.\(Self.type)", "seats=2/2"],
      ])
      ours.endInput()
      try await browse.lines(
        containing: (["Other"] + Self.names.dropFirst()).map { ["REMOVE", "\($0).\(Self.type)"] })
    }
  }

  @Test(.enabled(if: Peers.zeroconf, Peers.zeroconfIsNeeded), arguments: Family.allCases)
  func `we find python-zeroconf's services, TXT records, new names and goodbyes`(
    _ family: Family
  ) async throws {
    try await Lab.with(hosts: 2, environment: family.environment) { lab in
      let browse = try lab.startPeer("h1", "browse", Self.type)
      let theirs = try lab.zeroconf("h2", family, "pub", "Zed's 1.0 🏒", Self.type, "7777")
      let address = family == .v6 ? "[fd77::2]:7777" : "10.77.0.2:7777"
      _ = try await browse.line(containing: "resolved", json("Zed's 1.0 🏒"), address, "k=v")
      theirs.send("txt seats=2/2")
      _ = try await browse.line(containing: "updated", json("Zed's 1.0 🏒"), "seats=2/2")
      theirs.send("rename Other")
      try await browse.lines(containing: [
        ["removed", json("Zed's 1.0 🏒")], ["resolved", json("Other"), address],
      ])
      theirs.endInput()
      _ = try await browse.line(containing: "removed", json("Other"))
    }
  }
}
