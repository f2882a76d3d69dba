import CaromCore
import CaromSimulation
import CaromTesting
import Foundation

/// The peers of a serverless match on a virtual network. Each has its own clock and its own inputs.
struct PeerMatch<Game: Simulation> {
  var network: VirtualNetwork
  var sessions: [RollbackSession<Game>] = []
  /// The confirmed hashes of each peer, by tick from the first one on.
  var hashes: [[UInt64]] = []
  /// The confirmed events of each peer.
  var confirmed: [[RollbackEvent<Game.Event>]] = []
  var told: [[RollbackEvent<Game.Event>]] = []
  var desyncs: [DesyncReport] = []
  /// The time at which each desync was found.
  var desyncTimes: [Instant] = []
  var failures: [DecodeError] = []
  /// Players whose machines have been switched off.
  var gone: Set<Int> = []
  private var sockets: [VirtualSocket] = []
  private var endpoints: [Endpoint] = []
  private var writer = PacketWriter(capacity: 2_048)
  private let start: Tick

  init(
    _ game: Game, players: Int = 2, window: Int = 12, delay: Int = 2, seed: UInt64,
    conditions: LinkConditions, lateness: Duration = .zero, start: Tick = .zero
  ) {
    network = VirtualNetwork(seed: seed, conditions: conditions)
    self.start = start
    for player in 0..<players {
      let host = network.addHost()
      let socket = network.bind(host, port: 7_777)
      sockets.append(socket)
      endpoints.append(Endpoint(host.v4, port: 7_777))
      var configuration = RollbackConfiguration(
        players: players, local: player, window: window, inputDelay: delay)
      configuration.start = start
      let begin = Instant.zero + lateness * player
      sessions.append(RollbackSession(game, configuration, at: begin))
      hashes.append([])
      confirmed.append([])
      told.append([])
    }
  }

  var now: Instant { network.now }

  /// Plays until `end`. `input` returns a player's input for the state that the player sees.
  mutating func play(
    until end: Instant, _ input: (Int, borrowing RollbackSession<Game>) -> Game.Input
  ) {
    while true {
      let next =
        sessions.indices.filter { !gone.contains($0) }
        .min { sessions[$0].nextTick < sessions[$1].nextTick } ?? 0
      let due = max(sessions[next].nextTick, now)
      if let arrival = network.nextEventTime, arrival <= min(due, end) {
        deliver()
        continue
      }
      guard due <= end else { return }
      network.advance(to: due)
      for _ in 0..<sessions[next].takeDueTicks(at: now) {
        sessions[next].advance(with: input(next, sessions[next]))
        note(next)
      }
      send(next)
    }
  }

  private mutating func deliver() {
    guard case .datagram(let datagram, let socket)? = network.nextEvent() else { return }
    let player = sockets.firstIndex(of: socket) ?? 0
    guard !gone.contains(player) else { return }
    guard let from = endpoints.firstIndex(where: { $0.address == datagram.source.address }),
      let message = datagram.payload.first.flatMap(RollbackMessage.init(rawValue:))
    else { return }
    do throws(DecodeError) {
      let bytes = Array(datagram.payload.dropFirst())
      try sessions[player].receive(message, bytes.span, from: from, at: now)
    } catch {
      failures.append(error)
    }
    takeDesyncs(player)
    send(player)
  }

  private mutating func send(_ player: Int) {
    while true {
      writer.removeAll()
      guard let transmit = sessions[player].pollTransmit(into: &writer) else { return }
      network.send(
        [transmit.message.rawValue] + writer.bytes, from: sockets[player],
        to: endpoints[transmit.player])
    }
  }

  private mutating func note(_ player: Int) {
    let session = sessions[player]
    while let next = Optional(start.advanced(by: Int64(hashes[player].count))),
      next <= session.rollback.confirmedTick, let hash = session.rollback.hash(at: next)
    {
      hashes[player].append(hash)
    }
    while let event = sessions[player].pollEvent() {
      told[player].append(event)
      if case .confirmed = event { confirmed[player].append(event) }
    }
    takeDesyncs(player)
  }

  private mutating func takeDesyncs(_ player: Int) {
    while let report = sessions[player].pollDesync() {
      desyncs.append(report)
      desyncTimes.append(now)
    }
  }

  /// Whether all peers have the same hash at every tick that two of them have confirmed.
  var agree: Bool {
    (1..<hashes.count).allSatisfy { player in
      let common = min(hashes[0].count, hashes[player].count)
      return hashes[player].prefix(common) == hashes[0].prefix(common)
    }
  }

  /// The number of ticks that every peer has confirmed.
  var length: Int { (hashes.map(\.count).min() ?? 0) - 1 }
}

/// Chooses a repeat count. Debug builds are slow, and continuous integration runs both kinds.
func scaled(debug: Int, release: Int) -> Int {
  #if DEBUG
    debug
  #else
    release
  #endif
}

/// The worst connection of these tests: 200 ± 30 ms one way, with 25 % loss.
let hardLine = LinkConditions(
  oneWay: .milliseconds(200), jitter: .uniform(.milliseconds(30)), loss: 0.25)

/// An input source: a push that changes occasionally, with spawns and kills.
struct SwarmHand {
  private var generator: SeededGenerator
  private var push: Int32 = 0

  init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

  mutating func input() -> Swarm.Input {
    if generator.chance(0.15) { push = Int32.random(in: -100...100, using: &generator) }
    let wish: Swarm.Input.Wish =
      generator.chance(0.04) ? .spawn : generator.chance(0.04) ? .kill : .nothing
    return Swarm.Input(push: push, wish: wish)
  }
}

/// The length of a match in seconds. The environment variable `CAROM_MATCH_SECONDS` sets a longer
/// one.
func matchSeconds(debug: Int, release: Int = 60) -> Int {
  let given = ProcessInfo.processInfo.environment["CAROM_MATCH_SECONDS"].flatMap { Int($0) }
  return given ?? scaled(debug: debug, release: release)
}
