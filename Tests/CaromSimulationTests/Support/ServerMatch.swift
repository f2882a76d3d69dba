import CaromCore
import CaromSimulation
import CaromTesting

/// A server with its players and spectators on a virtual network.
struct ServerMatch<Game: Simulation & PacketCodable> {
  struct Seat {
    var client: RollbackClient<Game>
    var socket: VirtualSocket
    var endpoint: Endpoint
    var id: Int
    var hashes: [Tick: UInt64] = [:]
    var told: [RollbackEvent<Game.Event>] = []
  }

  var network: VirtualNetwork
  var server: RollbackServer<Game>
  var seats: [Seat] = []
  var hashes: [UInt64] = []
  var events: [Game.Event] = []
  var desyncs: [DesyncReport] = []
  var failures: [DecodeError] = []
  let start: Tick
  private let socket: VirtualSocket
  private let endpoint: Endpoint
  private var writer = PacketWriter(capacity: 2_048)

  init(
    _ game: Game, players: Int = 2, seed: UInt64, conditions: LinkConditions, start: Tick = .zero
  ) {
    network = VirtualNetwork(seed: seed, conditions: conditions)
    server = RollbackServer(game, players: players, at: .zero, start: start)
    self.start = start
    let host = network.addHost()
    socket = network.bind(host, port: 7_777)
    endpoint = Endpoint(host.v4, port: 7_777)
    hashes = [game.hash]
  }

  var now: Instant { network.now }

  mutating func join(
    _ player: Int?, window: Int = 30, inputDelay: Int = 0, roundTrip: Duration = .zero
  ) {
    let host = network.addHost()
    var client = RollbackClient<Game>(
      player: player, window: window, inputDelay: inputDelay, at: now)
    client.roundTrip = roundTrip
    seats.append(
      Seat(
        client: client, socket: network.bind(host, port: 7_777),
        endpoint: Endpoint(host.v4, port: 7_777),
        id: player.map { server.addPlayer($0) } ?? server.addSpectator()))
    sendServer()
  }

  mutating func play(until end: Instant, _ input: (Int, RollbackClient<Game>) -> Game.Input) {
    while true {
      let next = seats.indices.min { seats[$0].client.nextTick < seats[$1].client.nextTick }
      let clientDue = next.map { seats[$0].client.nextTick } ?? .distantFuture
      let due = max(min(server.nextTick, clientDue), now)
      if let arrival = network.nextEventTime, arrival <= min(due, end) {
        deliver()
      } else if due > end {
        return
      } else {
        network.advance(to: due)
        if server.nextTick <= now { stepServer() }
        if let next, seats[next].client.nextTick <= now { step(next, input) }
      }
    }
  }

  private mutating func stepServer() {
    for _ in 0..<server.takeDueTicks(at: now) {
      server.advance()
      hashes.append(server.state.hash)
      events += server.events
    }
    sendServer()
  }

  private mutating func step(_ seat: Int, _ input: (Int, RollbackClient<Game>) -> Game.Input) {
    for _ in 0..<seats[seat].client.takeDueTicks(at: now) {
      let made = input(seat, seats[seat].client)
      seats[seat].client.advance(with: made)
      note(seat)
    }
    send(seat)
  }

  private mutating func note(_ seat: Int) {
    while let event = seats[seat].client.pollEvent() { seats[seat].told.append(event) }
    while let report = seats[seat].client.pollDesync() { desyncs.append(report) }
    guard let rollback = seats[seat].client.rollback else { return }
    let newest = rollback.confirmedTick
    for back in 0..<40 where newest.rawValue >= UInt64(back) {
      let tick = newest.advanced(by: -Int64(back))
      if let hash = rollback.hash(at: tick) { seats[seat].hashes[tick] = hash }
    }
  }

  private mutating func deliver() {
    guard case .datagram(let datagram, let to)? = network.nextEvent(),
      let message = datagram.payload.first.flatMap(RollbackMessage.init(rawValue:))
    else { return }
    let bytes = Array(datagram.payload.dropFirst())
    do throws(DecodeError) {
      if to == socket {
        guard let seat = seats.first(where: { $0.endpoint.address == datagram.source.address })
        else { return }
        try server.receive(message, bytes.span, from: seat.id, at: now)
      } else if let seat = seats.firstIndex(where: { $0.socket == to }) {
        try seats[seat].client.receive(message, bytes.span, at: now)
        note(seat)
        send(seat)
      }
    } catch {
      failures.append(error)
    }
    sendServer()
  }

  private mutating func sendServer() {
    while true {
      writer.removeAll()
      guard let (id, message) = server.pollTransmit(into: &writer) else { return }
      guard let seat = seats.first(where: { $0.id == id }) else { continue }
      network.send([message.rawValue] + writer.bytes, from: socket, to: seat.endpoint)
    }
  }

  private mutating func send(_ seat: Int) {
    while true {
      writer.removeAll()
      guard let message = seats[seat].client.pollTransmit(into: &writer) else { return }
      network.send([message.rawValue] + writer.bytes, from: seats[seat].socket, to: endpoint)
    }
  }

  /// Whether every tick that a client confirmed has the same hash as on the server.
  func agrees(_ seat: Int) -> Bool {
    seats[seat].hashes.allSatisfy { tick, hash in
      let index = Int(start.distance(to: tick))
      return index < hashes.count && hashes[index] == hash
    }
  }
}
