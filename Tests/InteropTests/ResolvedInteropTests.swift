import Testing

/// Interoperability with systemd-resolved, which publishes services from files, and sends single
/// queries instead of browsing.
@Suite(.timeLimit(.minutes(1))) struct ResolvedInteropTests {
  private static let type = DiscoveryInteropTests.type
  /// Names that systemd-resolved accepts; it counts a byte that is not ASCII as four.
  private static let names =
    DiscoveryInteropTests.names.dropLast() + [String(repeating: "x", count: 63)]

  @Test(.enabled(if: Peers.resolved != nil, Peers.resolvedIsNeeded), arguments: Family.allCases)
  func `systemd-resolved resolves our services and finds their subtype`(
    _ family: Family
  ) async throws {
    let folder = try #require(Peers.resolved)
    try await Lab.with(hosts: 2, environment: family.environment) { lab in
      let ours = try lab.publish("h1", Array(Self.names), Self.type)
      try await lab.startResolved("h2", folder)
      for _ in Self.names { _ = try await ours.line(containing: "established") }
      for name in Self.names {
        let told = try await lab.run(
          "h2", "\(folder)/usr/bin/resolvectl", "service", name, Self.type, "local")
        #expect(told.contains("h1-carom.local:7777") && told.contains("seats=1/2"))
      }
      // It accepts only the first answer.
      let narrow = try await lab.run(
        "h2", "\(folder)/usr/bin/resolvectl", "query", "-t", "PTR", "_chess._sub.\(Self.type).local"
      )
      #expect(narrow.contains("_chess._sub.\(Self.type).local IN PTR"))
      #expect(narrow.contains(".\(Self.type).local --"))
    }
  }

  @Test(.enabled(if: Peers.resolved != nil, Peers.resolvedIsNeeded), arguments: Family.allCases)
  func `we find and resolve systemd-resolved's service, and report its removal`(
    _ family: Family
  ) async throws {
    let folder = try #require(Peers.resolved)
    try await Lab.with(hosts: 2, environment: family.environment) { lab in
      let wire = try lab.start("sw", "tcpdump", "-n", "-l", "-i", "br0", "udp port 5353")
      _ = try await wire.line(containing: "listening on")
      let browse = try lab.startPeer("h1", "browse", Self.type)
      try await lab.startResolved("h2", folder, "Its 1.0 🏒", Self.type, "4400", "seats=1/2")
      // It answers separately over each address family, and the first answer resolves the service.
      let address = family == .v4 ? "10.77.0.2:4400" : family == .v6 ? "[fd77::2]:4400" : ":4400"
      _ = try await browse.line(containing: "resolved", json("Its 1.0 🏒"), address, "seats=1/2")
      // It answers before it has claimed its names, but sends no goodbye until it has.
      _ = try await wire.line(containing: "PTR h2.local.", "SRV h2.local.:4400")
      try await lab.run(
        "h2", "dbus-send", "--system", "--print-reply", "--dest=org.freedesktop.resolve1",
        "/org/freedesktop/resolve1", "org.freedesktop.resolve1.Manager.UnregisterService",
        "objpath:/org/freedesktop/resolve1/dnssd/lab")
      _ = try await browse.line(containing: "removed", json("Its 1.0 🏒"))
    }
  }
}
