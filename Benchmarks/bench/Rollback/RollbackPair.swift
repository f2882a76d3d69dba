import AirHockey
import CaromCore
import CaromSimulation
import CaromTesting

/// Two peers without a server over a virtual link, and a replay of what the first of them
/// confirmed.
struct RollbackPair {
  var network: VirtualNetwork
  var sessions: [RollbackSession<RollbackFaultyRink>]
  var hashes: [[UInt64]] = [[], []]
  var replay: [UInt8] = []
  var events: [RinkEvent] = []
  var desyncs: [DesyncReport] = []
  var desyncTimes: [Instant] = []
  var packets = 0
  var packetBytes = 0
  private var recorder = ReplayWriter(
    RollbackFaultyRink(), players: 2, title: "air hockey")
  private var sockets: [VirtualSocket] = []
  private var endpoints: [Endpoint] = []
  private var writer = PacketWriter(capacity: 2_048)

  /// Creates the peers. At the tick `fault` the second peer's puck is moved by one lattice step.
  init(
    _ conditions: LinkConditions, window: Int = 30, delay: Int = 2, seed: UInt64,
    fault: Tick? = nil
  ) {
    network = VirtualNetwork(seed: seed, conditions: conditions)
    sessions = []
    for player in 0...1 {
      let host = network.addHost()
      sockets.append(network.bind(host, port: 7_777))
      endpoints.append(Endpoint(host.v4, port: 7_777))
      let configuration = RollbackConfiguration(local: player, window: window, inputDelay: delay)
      let rink = RollbackFaultyRink(fault: player == 1 ? fault : nil)
      let begin = Instant.zero + .milliseconds(50) * player
      sessions.append(RollbackSession(rink, configuration, at: begin))
    }
  }

  mutating func play(until end: Instant, _ input: (Int, Rink) -> RinkInput) {
    while true {
      let next = sessions[0].nextTick <= sessions[1].nextTick ? 0 : 1
      let due = max(sessions[next].nextTick, network.now)
      if let arrival = network.nextEventTime, arrival <= min(due, end) {
        deliver()
        continue
      }
      guard due <= end else { return }
      network.advance(to: due)
      for _ in 0..<sessions[next].takeDueTicks(at: due) {
        sessions[next].advance(with: input(next, sessions[next].state.rink))
        record(next)
      }
      send(next)
    }
  }

  /// Finishes the replay with the ticks that the first peer confirmed.
  mutating func finishReplay() -> (file: [UInt8], ticks: Int, keyframeBytes: Int) {
    if let state = sessions[0].rollback.state(at: recorder.tick) { recorder.finish(state) }
    return (replay + recorder.takeBytes(), Int(recorder.tick.rawValue), recorder.keyframeBytes)
  }

  private mutating func deliver() {
    guard case .datagram(let datagram, let socket)? = network.nextEvent() else { return }
    let player = socket == sockets[0] ? 0 : 1
    guard let message = datagram.payload.first.flatMap(RollbackMessage.init(rawValue:)) else {
      return
    }
    let bytes = Array(datagram.payload.dropFirst())
    try? sessions[player].receive(message, bytes.span, from: 1 - player, at: network.now)
    collectDesyncs(player)
    send(player)
  }

  private mutating func send(_ player: Int) {
    while true {
      writer.removeAll()
      guard let transmit = sessions[player].pollTransmit(into: &writer) else { return }
      packets += 1
      packetBytes += writer.count
      network.send(
        [transmit.message.rawValue] + writer.bytes, from: sockets[player],
        to: endpoints[transmit.player])
    }
  }

  private mutating func record(_ player: Int) {
    let rollback = sessions[player].rollback
    while let hash = rollback.hash(at: Tick(UInt64(hashes[player].count))) {
      hashes[player].append(hash)
    }
    while let event = sessions[player].pollEvent() {
      if player == 0, case .confirmed(let event, _) = event { events.append(event) }
    }
    collectDesyncs(player)
    guard player == 0, rollback.tick.rawValue % 30 == 0 else { return }
    recorder.record(rollback)
    replay += recorder.takeBytes()
  }

  private mutating func collectDesyncs(_ player: Int) {
    while let report = sessions[player].pollDesync() {
      desyncs.append(report)
      desyncTimes.append(network.now)
    }
  }
}
