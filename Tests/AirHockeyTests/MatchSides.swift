import CaromCore
import CaromSimulation

@testable import AirHockey

/// The host's side of a match without a network: the library's server with the game's requests.
struct MatchHost {
  var server: RollbackServer<Rink>
  /// The client's number at the server, or nil if the away seat is free.
  private(set) var client: Int?
  private var requests = HomeRequests()

  init(at now: Instant) {
    server = RollbackServer(Rink(match: 0), players: 2, rate: Preset.ticksPerSecond, at: now)
  }

  var state: RinkState { server.state.state }

  /// Gives the away seat to a client. Its first state is that after the next step.
  mutating func addClient(returning: Bool) -> Int {
    removeClient()
    requests.seatTaken(returning: returning)
    let id = server.addPlayer(1)
    if returning { server.setInput(RinkInput(nil, request: .resume), for: 1) }
    client = id
    return id
  }

  mutating func removeClient() {
    if client != nil { server.removePlayer(1) }
    client = nil
  }

  mutating func request(_ request: RinkInput.Request) { requests.add(request) }

  /// Simulates one tick and returns its events.
  mutating func step(home: MalletInput?) -> [RinkEvent] {
    server.setInput(requests.input(home, in: state), for: 0)
    server.advance()
    return server.events
  }

  mutating func pollMessage() -> MatchMessage? {
    var writer = PacketWriter()
    return server.pollTransmit(into: &writer).map {
      MatchMessage(recipient: $0.client, kind: $0.message, bytes: writer.bytes)
    }
  }
}

/// A message from a host.
struct MatchMessage {
  var recipient: Int
  var kind: RollbackMessage
  var bytes: [UInt8]
}

/// A client's or a spectator's side of a match without a network.
struct MatchClient {
  var client: RollbackClient<Rink>
  private var requests: [RinkInput.Request] = []
  private(set) var desyncs = 0

  init(isSpectator: Bool = false, at now: Instant) {
    client = RollbackClient(
      player: isSpectator ? nil : 1, rate: Preset.ticksPerSecond, window: SimulationLimits.window,
      at: now)
  }

  var state: RinkState? { client.state?.state }
  var confirmed: RinkState? { client.confirmedState?.state }
  var statistics: RollbackStatistics { client.rollback?.statistics ?? RollbackStatistics() }

  /// Adds a request, which is part of an input once the first state has arrived.
  mutating func request(_ request: RinkInput.Request) { requests.append(request) }

  mutating func step(_ mallet: MalletInput?) {
    let isRequestDue = !requests.isEmpty && state != nil && !client.isInputPending
    let request = isRequestDue ? requests.removeFirst() : nil
    client.advance(with: RinkInput(mallet, request: request))
  }

  /// Returns the next event of a confirmed tick, with the state after that tick.
  mutating func pollEvent() -> (event: RinkEvent, state: RinkState)? {
    while let next = client.pollEvent() {
      guard case .confirmed(let event, let tick) = next,
        let state = client.rollback?.state(at: tick.next)?.state
      else { continue }
      return (event, state)
    }
    return nil
  }

  mutating func receive(
    _ kind: RollbackMessage, _ bytes: Span<UInt8>, at now: Instant
  ) throws(DecodeError) {
    try client.receive(kind, bytes, at: now)
    while client.pollDesync() != nil { desyncs += 1 }
  }

  mutating func pollMessage() -> (kind: RollbackMessage, bytes: [UInt8])? {
    var writer = PacketWriter()
    return client.pollTransmit(into: &writer).map { ($0, writer.bytes) }
  }
}
