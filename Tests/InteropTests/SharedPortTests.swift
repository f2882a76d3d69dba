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

  /// Starts a browse that stays idle on h1 once it has found the service that h2 advertises.
  private func startIdleBrowse(_ lab: Lab) async throws {
    let far = try lab.startPeer("h2", "publish", "far", Self.type, "7000")
    _ = try await far.line(containing: "established")
    let browser = try lab.startPeer("h1", "browse", Self.type)
    _ = try await browser.line(containing: "resolved", "far")
  }

  /// Waits until a condition of the shell holds on h1.
  private func wait(_ lab: Lab, until condition: String) async throws {
    try await lab.run("h1", "bash", "-c", "until \(condition); do sleep .05; done")
  }

  private static let holdsAddress = "ss -uln | grep -q 10.77.0.1:5353"

  @Test func `R7: a daemon that holds the wildcard receives its unicast beside an idle browse`()
    async throws
  {
    try await Lab.with(hosts: 2) { lab in
      try await startIdleBrowse(lab)
      try await wait(lab, until: Self.holdsAddress)
      let daemon = try lab.start("h1", Peers.python, "wildcard.py")
      _ = try await daemon.line(containing: "bound")
      var answers: [String] = []
      for number in 0..<4 {
        daemon.send("browse \(Self.type)")
        answers.append(try await daemon.line(containing: "answered"))
        // After the first question at the latest, our process looks who else is bound to the port,
        // but at most once a second.
        if number == 0 { try await wait(lab, until: "! \(Self.holdsAddress)") }
      }
      // A multicast answer to the idle browse may arrive before one of them.
      #expect(answers.contains { $0.contains("unicast") }, "\(answers)")
      let asking = try lab.start("h2", Peers.python, "wildcard.py", "ask", "10.77.0.1", "x.local")
      _ = try await daemon.line(containing: "asked by 10.77.0.2")
      _ = try await asking.line(containing: "no answer")
      daemon.endInput()
      try await wait(lab, until: Self.holdsAddress)
    }
  }

  @Test func `R7: addresses are released although the daemon sends nothing`() async throws {
    try await Lab.with(hosts: 2) { lab in
      try await startIdleBrowse(lab)
      try await wait(lab, until: Self.holdsAddress)
      let daemon = try lab.start("h1", Peers.python, "wildcard.py")
      _ = try await daemon.line(containing: "bound")
      try await wait(lab, until: "! \(Self.holdsAddress)")
    }
  }

  @Test(.enabled(if: Peers.avahi, Peers.avahiIsNeeded))
  func `R7: avahi answers direct questions beside an idle browse`() async throws {
    try await Lab.with(hosts: 2) { lab in
      try await lab.startAvahi("h1")
      try await startIdleBrowse(lab)
      for _ in 0..<4 {
        let asking = try lab.start(
          "h2", Peers.python, "wildcard.py", "ask", "10.77.0.1", "h1.local")
        let line = try await asking.line(containing: "answer")
        #expect(line == "answered by 10.77.0.1")
      }
    }
  }

  @Test(.enabled(if: Peers.avahi, Peers.avahiIsNeeded))
  func `avahi finds our host by its address, and keeps the address that we share`() async throws {
    try await Lab.with(hosts: 2) { lab in
      try await lab.startAvahi("h1")
      for host in ["h1", "h2"] {
        let ours = try lab.startPeer(host, "publish", "of \(host)", Self.type, "7000")
        _ = try await ours.line(containing: "established")
      }
      let names = ["10.77.0.1": "h1.local", "10.77.0.2": "h2-carom.local"]
      for (address, name) in names {
        let output = try await lab.run("h1", "avahi-resolve", "-a", address)
        #expect(output.contains(name))
      }
    }
  }

  @Test(.enabled(if: Peers.resolved != nil, Peers.resolvedIsNeeded))
  func `R7: no address is bound beside systemd-resolved`() async throws {
    let folder = try #require(Peers.resolved)
    try await Lab.with(hosts: 2) { lab in
      try await startIdleBrowse(lab)
      try await wait(lab, until: Self.holdsAddress)
      try await lab.startResolved("h1", folder)
      try await wait(lab, until: "! \(Self.holdsAddress)")
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
      // The system reports the loss of the carrier up to a second later.
      try await wait(lab, until: "ip link show eth0 | grep -q NO-CARRIER")
      let ours = try lab.startPeer("h1", "publish", "X", Self.type, "7001")
      ours.endInput()
      let line = try await ours.line(containing: "error")
      #expect(line.contains("no interface can carry multicast"))
    }
  }
}
