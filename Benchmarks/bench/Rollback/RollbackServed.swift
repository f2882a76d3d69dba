import AirHockey
import BenchProbe
import CaromCore
import CaromSimulation

/// Matches with servers and clients, connected by links in memory with a constant latency and no
/// loss. Measures the sizes of packets and the heap allocations of a tick.
struct RollbackServed {
  private struct Line {
    var due: Int
    var message: RollbackMessage
    var bytes: PacketWriter
  }

  private var servers: [RollbackServer<Rink>]
  private var clients: [RollbackClient<Rink>] = []
  private var clientIDs: [Int] = []
  private var up: [[Line]] = []
  private var down: [[Line]] = []
  private var tick = 0
  private let recording: RollbackRecording
  private var scratch = PacketWriter(capacity: 2_048)
  /// The one-way latency of the links, in quarters of a tick.
  private let quarters: Int
  var upBytes = 0
  var upPackets = 0
  var downBytes = 0
  var downPackets = 0
  /// The heap allocations of the servers alone.
  var allocations: UInt64 = 0

  /// Creates the matches, each with two clients. The one-way latency is `quarters` quarters of a
  /// tick.
  init(matches: Int, quarters: Int, recording: RollbackRecording) {
    self.quarters = quarters
    self.recording = recording
    servers = (0..<matches).map { _ in RollbackServer(Rink(), players: 2, at: .zero) }
    for match in 0..<matches {
      for player in 0...1 {
        clientIDs.append(servers[match].addPlayer(player))
        var client = RollbackClient<Rink>(player: player, at: .zero)
        client.roundTrip = .nanoseconds(Int64(quarters) * 2 * 16_666_667 / 4)
        clients.append(client)
        up.append([])
        down.append([])
      }
    }
  }

  /// Makes `ticks` ticks of every match, each in four steps.
  mutating func run(ticks: Int) {
    for _ in 0..<4 * ticks {
      tick += 1
      let now = Instant(nanoseconds: Int64(tick) * 1_000_000_000 / 240)
      for client in clients.indices { arriveDown(client, now) }
      for client in clients.indices { stepClient(client, now) }
      let before = bench_allocations()
      let counted = countHarness
      for client in clients.indices { arriveUp(client, now) }
      for match in servers.indices { stepServer(match, now) }
      allocations += bench_allocations() - before - (countHarness - counted)
    }
  }

  /// The heap allocations of the links in memory, which are subtracted.
  private var countHarness: UInt64 = 0

  /// The number of inputs that arrived too late.
  var missed: Int {
    servers.reduce(0) { $0 + $1.missedInputs(of: 0) + $1.missedInputs(of: 1) }
  }
  /// The number of local inputs that a server overrode.
  var overruled: Int { clients.reduce(0) { $0 + $1.overriddenInputs } }
  /// The mean lead of the clients over their servers, in ticks.
  var lead: Double {
    let sum = clients.indices.reduce(0.0) { sum, client in
      let tick = clients[client].rollback?.tick ?? .zero
      return sum + Double(servers[client / 2].tick.distance(to: tick))
    }
    return sum / Double(clients.count)
  }

  private mutating func arriveDown(_ client: Int, _ now: Instant) {
    while let line = down[client].first, line.due <= tick {
      down[client].removeFirst()
      let bytes = line.bytes.bytes
      try? clients[client].receive(line.message, bytes.span, at: now)
    }
  }

  private mutating func stepClient(_ client: Int, _ now: Instant) {
    for _ in 0..<clients[client].takeDueTicks(at: now) {
      let at = Int(clients[client].rollback?.tick.rawValue ?? 0) % recording.inputs.count
      clients[client].advance(with: recording.inputs[at][client % 2])
      while clients[client].pollEvent() != nil {}
    }
    while true {
      scratch.removeAll()
      guard let message = clients[client].pollTransmit(into: &scratch) else { return }
      upBytes += scratch.count
      upPackets += 1
      up[client].append(Line(due: tick + quarters, message: message, bytes: scratch))
    }
  }

  private mutating func arriveUp(_ client: Int, _ now: Instant) {
    while let line = up[client].first, line.due <= tick {
      let before = bench_allocations()
      up[client].removeFirst()
      let bytes = line.bytes.bytes
      countHarness += bench_allocations() - before
      try? servers[client / 2].receive(
        line.message, bytes.span, from: clientIDs[client], at: now)
    }
  }

  private mutating func stepServer(_ match: Int, _ now: Instant) {
    for _ in 0..<servers[match].takeDueTicks(at: now) { servers[match].advance() }
    while true {
      scratch.removeAll()
      guard let (id, message) = servers[match].pollTransmit(into: &scratch) else { return }
      downBytes += scratch.count
      downPackets += 1
      let before = bench_allocations()
      down[2 * match + id].append(Line(due: tick + quarters, message: message, bytes: scratch))
      scratch = PacketWriter(capacity: 2_048)
      countHarness += bench_allocations() - before
    }
  }

  mutating func resetCounts() {
    (upBytes, upPackets, downBytes, downPackets, allocations) = (0, 0, 0, 0, 0)
  }
}
