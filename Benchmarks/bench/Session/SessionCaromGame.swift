import BenchProbe
import Carom
import SessionPeers

/// A game's server: 60 bytes in and 300 out for each player, 60 times a second.
actor SessionCaromServer: LoopActor {
  nonisolated let loop: NetworkLoop
  private let node: SessionNode
  private let players = SessionCarom.number("peers", 100)
  private let ticks = SessionCarom.number("ticks", 300)
  private let hertz = SessionCarom.number("hertz", Int(SIDE_HERTZ))
  private var links: [ConnectionID] = []
  private var received = 0
  private var ticksSoFar = 0
  private var cpu: UInt64 = 0
  /// Of the loop's thread alone.
  private var threadCPU: UInt64 = 0
  private var ticker: Ticker?
  private var full: CheckedContinuation<Void, Never>?
  private var finished: CheckedContinuation<Void, Never>?

  init(on loop: NetworkLoop) {
    self.loop = loop
    node = SessionCarom.makeNode(0, seats: SessionCarom.number("peers", 100), on: loop)
  }

  func run() async throws {
    await node.setHandler(owner: self) { side, event in side.handle(event) }
    await node.setMessageHandler(owner: self) { side, _ in side.received += 1 }
    let memory = side_memory()
    side_listens(try await node.listen(on: [.loopback4]))
    await withCheckedContinuation { full = $0 }
    SessionTell.figure("memory", (Double(side_memory()) - Double(memory)) / Double(players))
    SessionTell.say("full")
    received = 0
    cpu = side_cpu()
    threadCPU = bench_thread_cpu_nanoseconds()
    ticker = Ticker(on: loop, owner: self, hertz: hertz) { side, _ in side.tick() }
    await withCheckedContinuation { finished = $0 }
  }

  private func handle(_ event: SessionEvent) {
    switch event {
    case .requested(let link, _, _): node.assumeIsolated { $0.admit(link) }
    case .opened(let link, _):
      links.append(link)
      guard links.count == players else { return }
      full?.resume()
      full = nil
    default: break
    }
  }

  private func tick() {
    guard ticksSoFar < ticks else { return finish() }
    ticksSoFar += 1
    let state = SessionBytes(count: Int(SIDE_STATE))
    let links = links
    node.assumeIsolated { node in
      for link in links { try? node.send(state, on: .inputs, to: link) }
    }
  }

  private func finish() {
    ticker?.stop()
    let sent = ticks * players
    SessionTell.figure("cpu", Double(side_cpu() - cpu) / Double(sent))
    SessionTell.figure(
      "thread", Double(bench_thread_cpu_nanoseconds() - threadCPU) / Double(sent))
    SessionTell.figure("received", Double(received))
    SessionTell.figure("sent", Double(sent))
    SessionTell.figure("datagrams", Double(received + sent))
    finished?.resume()
    finished = nil
  }
}

/// The players, each with a node; a hundred send together, as everybody's do.
actor SessionCaromPlayers: LoopActor {
  nonisolated let loop: NetworkLoop
  private let players = SessionCarom.number("peers", 100)
  private let ticks = SessionCarom.number("ticks", 300)
  private var nodes: [(node: SessionNode, link: ConnectionID)] = []
  private var arrived = 0
  private var slot = 0
  private var ticker: Ticker?
  private var finished: CheckedContinuation<Void, Never>?
  private static let together = 100

  init(on loop: NetworkLoop) { self.loop = loop }

  func run() async throws {
    let server = try SessionCarom.server()
    for number in 1...players {
      let node = SessionCarom.makeNode(number, seats: 0, on: loop)
      await node.setMessageHandler(owner: self) { side, _ in side.arrived += 1 }
      nodes.append((node, try await node.connect(to: [server])))
    }
    SessionTell.say("ready")
    ticker = Ticker(on: loop, owner: self, hertz: Int(SIDE_HERTZ) * slots) { side, _ in
      side.sendInputs()
    }
    await withCheckedContinuation { finished = $0 }
    SessionTell.figure("arrived", Double(arrived))
  }

  private var slots: Int { (players + Self.together - 1) / Self.together }

  /// One hundred of them; past the server's last tick by a second.
  private func sendInputs() {
    guard slot < (ticks + Int(SIDE_HERTZ)) * slots else {
      ticker?.stop()
      finished?.resume()
      finished = nil
      return
    }
    let first = slot % slots * Self.together
    slot += 1
    let input = SessionBytes(count: Int(SIDE_INPUT))
    for (node, link) in nodes[first..<min(first + Self.together, players)] {
      node.assumeIsolated { try? $0.send(input, on: .inputs, to: link) }
    }
  }
}
