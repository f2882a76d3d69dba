import AirHockey
import CaromCore
import CaromProtocol
import CaromSimulation

/// The host of a recorded match, with one client at most.
struct RecordedHost {
  private var host = RollbackHost<Rink, Int>(
    RollbackServer(Rink(match: 0), players: 2, at: .zero), remotePlayers: [1])
  private var requests = HomeRequests()

  var state: RinkState { host.server.state.state }
  /// The word that ends the session.
  var finalNotice: MatchNotice { .ended(match: state.match, state.score) }

  /// Begins a match and adds the client, whose first state is that of its first tick.
  mutating func addClient() {
    guard !host.contains(1) else { return }
    requests.seatTaken(returning: false)
    host.server.setInput(requests.input(nil, in: state), for: 0)
    host.advance()
    host.add(1, peer: PeerID(high: 0, low: 1), as: 1)
  }

  mutating func step(home: MalletInput) {
    host.server.setInput(requests.input(home, in: state), for: 0)
    host.advance()
  }

  mutating func receive(
    _ kind: RollbackMessage, _ bytes: Span<UInt8>, at now: Instant
  ) throws(DecodeError) { try host.receive(kind, bytes, from: 1, at: now) }

  mutating func pollMessage() -> (kind: RollbackMessage, bytes: [UInt8])? {
    var writer = PacketWriter()
    return host.pollTransmit(into: &writer).map { ($0.message, writer.bytes) }
  }
}

/// The client of a recorded match.
struct RecordedClient {
  private var client = RollbackClient<Rink>(window: SimulationLimits.window, at: .zero)
  private var requests: [RinkInput.Request] = []

  var state: RinkState? { client.state?.state }

  mutating func request(_ request: RinkInput.Request) { requests.append(request) }

  mutating func step(_ mallet: MalletInput) {
    let request = state == nil || requests.isEmpty ? nil : requests.removeFirst()
    client.advance(with: RinkInput(mallet, request: request))
  }

  mutating func receive(
    _ kind: RollbackMessage, _ bytes: Span<UInt8>, at now: Instant
  ) throws(DecodeError) { try client.receive(kind, bytes, at: now) }

  mutating func pollMessage() -> (kind: RollbackMessage, bytes: [UInt8])? {
    var writer = PacketWriter()
    return client.pollTransmit(into: &writer).map { ($0, writer.bytes) }
  }
}
