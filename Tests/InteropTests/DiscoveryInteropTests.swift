import Foundation
import Testing

/// Interoperability with avahi on the same LAN, in both directions and on separate hosts: unusual
/// names, subtypes, changed TXT records and goodbyes, over IPv4, IPv6 and both.
@Suite(.timeLimit(.minutes(1))) struct DiscoveryInteropTests {
  static let type = "_airhockey._udp"
  static let names = [
    "Plain", "L’été's v1.5 \\ 🏒", "a.b. c..", String(repeating: "é", count: 31) + "!",
  ]

  @Test(.enabled(if: Peers.avahi, Peers.avahiIsNeeded), arguments: Family.allCases)
  func `avahi finds our services, TXT records, subtypes, new names and goodbyes`(
    _ family: Family
  ) async throws {
    try await Lab.with(hosts: 2, environment: family.environment) { lab in
      try await lab.startAvahi("h1")
      let browse = try lab.start("h1", "stdbuf", "-oL", "avahi-browse", "-rp", Self.type)
      let narrow = try lab.start(
        "h1", "stdbuf", "-oL", "avahi-browse", "-p", "_chess._sub.\(Self.type)")
      let ours = try lab.publish("h2", Self.names, Self.type)
      try await browse.lines(
        containing: Self.names.map {
          ["=;eth0;", ";\(avahi($0));", ";h2-carom.local;", ";7777;\"seats=1/2\""]
        })
      try await narrow.lines(containing: Self.names.map { ["+;eth0;", ";\(avahi($0));"] })
      ours.send("seats=2/2")
      // avahi-browse resolves a service only once, so it is run until it reports the new TXT
      // record.
      let again = "until avahi-browse -rpt \(Self.type) | grep seats=2/2; do :; done"
      let line = try await lab.run("h1", "bash", "-c", again)
      #expect(line.contains(";Plain;"))
      ours.send("subtypes\t_go")
      ours.send("rename\tOther")
      try await browse.lines(containing: [
        ["-;eth0;", ";Plain;"], ["=;eth0;", ";Other;", "seats=2/2"],
      ])
      try await narrow.lines(containing: [["-;eth0;", ";Plain;"]])
      ours.endInput()
      try await browse.lines(
        containing: (["Other"] + Self.names.dropFirst()).map { ["-;eth0;", ";\(avahi($0));"] })
    }
  }

  @Test(.enabled(if: Peers.avahi, Peers.avahiIsNeeded), arguments: Family.allCases)
  func `we find avahi's services, TXT records, subtypes and goodbyes`(_ family: Family) async throws
  {
    try await Lab.with(hosts: 2, environment: family.environment) { lab in
      let browse = try lab.startPeer("h1", "browse", Self.type)
      let narrow = try lab.startPeer("h1", "browse", Self.type, "_chess")
      try await lab.startAvahi("h2")
      let theirs = try Self.names.map { name in
        try lab.startUntilInputEnds(
          "h2", "avahi-publish-service", "--subtype=_chess._sub.\(Self.type)", name, Self.type,
          "7777", "seats=1/2")
      }
      let address = family == .v6 ? "[fd77::2]:7777" : "10.77.0.2:7777"
      try await browse.lines(
        containing: Self.names.map {
          ["resolved", json($0), address, "\"host\":\"h2.local\"", "seats=1/2"]
        })
      try await narrow.lines(containing: Self.names.map { ["added", json($0)] })
      for program in theirs { program.endInput() }
      try await browse.lines(containing: Self.names.map { ["removed", json($0)] })
    }
  }

  @Test(.enabled(if: Peers.avahi, Peers.avahiIsNeeded))
  func `we report changes to avahi's service files`() async throws {
    try await Lab.with(hosts: 2) { lab in
      try await lab.startAvahi("h2")
      let browse = try lab.startPeer("h1", "browse", Self.type)
      try await lab.run("h2", "bash", "-c", Self.serviceFile(seats: "1/2", version: 1))
      try await browse.lines(containing: [["resolved", json("Filed"), "seats=1/2"]])
      try await lab.run("h2", "bash", "-c", Self.serviceFile(seats: "2/2", version: 2))
      try await browse.lines(containing: [[json("Filed"), "seats=2/2"]])
    }
  }

  @Test(.enabled(if: Peers.avahi, Peers.avahiIsNeeded))
  func `next to avahi on the same host, both are found and avahi keeps its host name`() async throws
  {
    try await Lab.with(hosts: 2) { lab in
      try await lab.startAvahi("h1")
      let browse = try lab.startPeer("h2", "browse", Self.type)
      let ours = try lab.startPeer("h1", "publish", "ours", Self.type, "7777")
      _ = try await ours.line(containing: "established", "\"ours\"")
      let theirs = try lab.start("h1", "avahi-publish-service", "theirs", Self.type, "8888")
      _ = try await theirs.line(containing: "Established", "'theirs'")
      try await browse.lines(containing: [
        ["resolved", "10.77.0.1:", "\"h1.local\""],
        ["resolved", "10.77.0.1:", "\"h1-carom.local\""],
      ])
      let other = try lab.start("h1", "stdbuf", "-oL", "avahi-browse", "-rp", Self.type)
      _ = try await other.line(containing: "=;eth0;", ";theirs;", ";h1.local;")
    }
  }

  @Test(.enabled(if: Peers.avahi, Peers.avahiIsNeeded))
  func `of two services with one name the second is renamed, whether it is ours or avahi's`()
    async throws
  {
    try await Lab.with(hosts: 2) { lab in
      try await lab.startAvahi("h2")
      let first = try lab.startPeer("h1", "publish", "Ours", Self.type, "7777")
      let theirs = try lab.start("h2", "avahi-publish-service", "Theirs", Self.type, "8888")
      _ = try await first.line(containing: "established", json("Ours"))
      _ = try await theirs.line(containing: "Established", "'Theirs'")
      let second = try lab.startPeer("h1", "publish", "Theirs", Self.type, "7778")
      let renamed = try lab.start("h2", "avahi-publish-service", "Ours", Self.type, "8889")
      _ = try await second.line(containing: "established", json("Theirs (2)"))
      _ = try await renamed.line(containing: "Established", "'Ours #2'")
      let browse = try lab.startPeer("h1", "browse", Self.type)
      try await browse.lines(
        containing: ["Ours", "Theirs", "Theirs (2)", "Ours #2"].map { ["resolved", json($0)] })
    }
  }

  /// A script that installs a service file and notifies the daemon. The daemon reads a file again
  /// only if its modification time in seconds has changed, so each version has a time of its own.
  private static func serviceFile(seats: String, version: Int) -> String {
    """
    cat >/etc/avahi/services/lab.new <<END
    <service-group><name>Filed</name><service><type>\(type)</type><port>7777</port>
    <txt-record>seats=\(seats)</txt-record></service></service-group>
    END
    touch -d @$((1000000000 + \(version))) /etc/avahi/services/lab.new
    mv /etc/avahi/services/lab.new /etc/avahi/services/lab.service
    kill -HUP "$(cat /run/avahi-daemon/pid)"
    """
  }

  /// The name as avahi-browse prints it in its parsable format.
  private func avahi(_ name: String) -> String {
    name.utf8.map { byte in
      switch byte {
      case UInt8(ascii: "."), UInt8(ascii: "\\"): "\\" + String(UnicodeScalar(byte))
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"), UInt8(ascii: "_"):
        String(UnicodeScalar(byte))
      default: String(format: "\\%03d", Int(byte))
      }
    }.joined()
  }
}

/// The name as the peer process prints it.
func json(_ name: String) -> String {
  "\"name\":\"\(name.replacingOccurrences(of: "\\", with: "\\\\"))\""
}
