import CaromCore
import CaromSimulation

/// A rollback host and its clients, which learn their seats from it, in virtual time. Messages of
/// one kind stay in order; inputs can be lost.
struct HostMatch<Game: Simulation & PacketCodable> {
  private struct Message {
    let arrival: Instant
    /// The receiving client, or nil if the host receives it.
    let to: Int?
    let from: Int
    let kind: RollbackMessage
    let bytes: [UInt8]
  }

  static var step: Duration { .milliseconds(2) }

  var host: RollbackHost<Game, Int>
  var clients: [Int: RollbackClient<Game>] = [:]
  /// The clients whose messages are lost in both directions.
  var cut: Set<Int> = []
  var oneWay: Duration
  /// The additional delay of a keyframe, as if it had been lost and sent again.
  var keyframeDelay = Duration.zero
  var loss = 0.0
  private(set) var now = Instant.zero
  private(set) var hashes: [UInt64] = []
  private(set) var hostEvents: [RollbackHost<Game, Int>.Event] = []
  private(set) var desyncs: [DesyncReport] = []
  private(set) var stepped: [Int: Int] = [:]
  private var inFlight: [Message] = []
  private var generator: SeededGenerator
  private var writer = PacketWriter()

  init(_ host: RollbackHost<Game, Int>, oneWay: Duration, seed: UInt64 = 1) {
    self.host = host
    self.oneWay = oneWay
    generator = SeededGenerator(seed: seed)
    hashes = [host.server.state.hash]
  }

  /// Adds a client as a session does: the transport knows the round trip when the client joins.
  mutating func join(
    _ id: Int, as player: Int?, window: Int = SimulationLimits.window, adapts: Bool = true
  ) {
    var client = RollbackClient<Game>(window: window, at: now)
    client.adaptsInputDelay = adapts
    client.roundTrip = oneWay * 2
    clients[id] = client
    host.add(id, peer: PeerID(high: 0, low: UInt64(id)), as: player)
  }

  mutating func leave(_ id: Int) {
    clients[id] = nil
    host.remove(id)
  }

  mutating func play(
    for duration: Duration, _ input: (Int, RollbackClient<Game>) -> Game.Input
  ) throws {
    let end = now + duration
    while now < end {
      now = now + Self.step
      try deliver()
      for _ in 0..<host.server.takeDueTicks(at: now) {
        host.advance()
        hashes.append(host.server.state.hash)
      }
      while let event = host.pollEvent() { hostEvents.append(event) }
      sendHost()
      for id in clients.keys.sorted() { step(id, input) }
    }
  }

  private mutating func step(_ id: Int, _ input: (Int, RollbackClient<Game>) -> Game.Input) {
    guard var client = clients.removeValue(forKey: id) else { return }
    for _ in 0..<client.takeDueTicks(at: now) {
      if client.advance(with: input(id, client)) == .stepped { stepped[id, default: 0] += 1 }
    }
    while let report = client.pollDesync() { desyncs.append(report) }
    while true {
      writer.removeAll()
      guard let kind = client.pollTransmit(into: &writer) else { break }
      send(kind, writer.bytes, from: id, to: nil)
    }
    clients[id] = client
  }

  private mutating func sendHost() {
    while true {
      writer.removeAll()
      guard let (id, kind) = host.pollTransmit(into: &writer) else { return }
      send(kind, writer.bytes, from: id, to: id)
    }
  }

  private mutating func send(_ kind: RollbackMessage, _ bytes: [UInt8], from: Int, to: Int?) {
    if cut.contains(from), kind == .inputs { return }
    if kind == .inputs, generator.chance(loss) { return }
    let delay = kind == .keyframe ? oneWay + keyframeDelay : oneWay
    inFlight.append(
      Message(arrival: now + delay, to: to, from: from, kind: kind, bytes: bytes))
  }

  private mutating func deliver() throws {
    let now = now
    let cut = cut
    // What must arrive waits in its connection while there is no path.
    let due = inFlight.filter { $0.arrival <= now && !cut.contains($0.from) }
    inFlight.removeAll { $0.arrival <= now && !cut.contains($0.from) }
    for message in due {
      if let id = message.to {
        try clients[id]?.receive(message.kind, message.bytes.span, at: now)
      } else {
        try host.receive(message.kind, message.bytes.span, from: message.from, at: now)
      }
    }
  }

  /// Whether the states that a client has confirmed recently are those of the host.
  func agrees(_ id: Int) -> Bool {
    guard let rollback = clients[id]?.rollback else { return false }
    let confirmed = rollback.confirmedTick
    return (0..<40).allSatisfy { back in
      guard back <= confirmed.rawValue,
        let hash = rollback.hash(at: confirmed.advanced(by: -Int64(back)))
      else { return true }
      return hashes[Int(confirmed.rawValue) - back] == hash
    }
  }
}
