import AirHockey
import CaromCore
import CaromProtocol
import CaromSimulation

/// The bytes that the host and the client of a short match exchange over a stream, recorded on
/// virtual time: the handshake, pings, a keyframe, inputs, a pause, a resume, and the last word.
struct RecordedSession {
  private(set) var toHost: [UInt8] = []
  private(set) var toClient: [UInt8] = []
  /// The number of bytes of `toHost` that were sent before the grant; the rest waits for it.
  private(set) var requestLength = 0
  /// The number of bytes of `toClient` that were sent with the grant, before any carrier.
  private(set) var grantLength = 0
  /// Upper bounds of the numbers of carriers that the sides sent: one per poll, since each carries
  /// little.
  private(set) var (carriersToHost, carriersToClient) = (0, 0)
  /// The time at which the session ended.
  private(set) var now = Instant(nanoseconds: 1_000_000_000)

  private var host = Host(nameless, seats: 1)
  private var client = Host(leo, seats: 0)
  private let hostID: ConnectionID
  private let clientID: ConnectionID
  private var match = RecordedHost()
  private var visit = RecordedClient()
  private var players = (
    home: ComputerPlayer(.home, seed: 1), away: ComputerPlayer(.away, strength: .easy, seed: 2)
  )

  init(ticks: Int) throws {
    hostID = host.makeConnectionID()
    clientID = client.makeConnectionID()
    _ = host.accept(hostID, at: now)
    client.handleStreamConnected(clientID, at: now)
    try exchange()
    for tick in 0..<ticks {
      now = now + .nanoseconds(16_666_667)
      host.handleTimeout(at: now)
      client.handleTimeout(at: now)
      if tick == ticks / 3 { visit.request(.pause) }
      if tick == ticks / 2 { visit.request(.resume) }
      try step()
      try exchange()
    }
    try client.send(MatchNotice.finish.encoded, on: 2, to: clientID, at: now)
    try exchange()
  }

  private mutating func step() throws {
    match.step(home: players.home.input(for: match.state))
    try sendHosted()
    guard let state = visit.state else { return }
    visit.step(players.away.input(for: state))
    while let (kind, bytes) = visit.pollMessage() {
      try Self.send(kind, bytes, from: &client, to: clientID, at: now)
    }
  }

  private mutating func sendHosted() throws {
    while let message = match.pollMessage() {
      try Self.send(message.kind, message.bytes, from: &host, to: hostID, at: now)
    }
  }

  private static func send(
    _ kind: RollbackMessage, _ bytes: [UInt8], from side: inout Host, to id: ConnectionID,
    at now: Instant
  ) throws {
    if kind == .inputs {
      try side.send(bytes, on: 0, .unreliableSequenced, to: id, at: now)
    } else {
      try side.send(RollbackPacket(kind, bytes).encoded, on: 1, to: id, at: now)
    }
  }

  /// Delivers bytes in both directions until neither side has any to send.
  private mutating func exchange() throws {
    while true {
      let up = client.pollTransmit(on: clientID, queued: 0, at: now) ?? []
      let down = host.pollTransmit(on: hostID, queued: 0, at: now) ?? []
      if up.isEmpty && down.isEmpty { return }
      toHost += up
      toClient += down
      if grantLength == 0 { grantLength = toClient.count }
      carriersToHost += 1
      carriersToClient += 1
      host.receive(up.span, on: hostID, at: now)
      client.receive(down.span, on: clientID, at: now)
      while let event = host.pollEvent() { try handleHostEvent(event) }
      while let event = client.pollEvent() { try handleClientEvent(event) }
    }
  }

  private mutating func handleHostEvent(_ event: HostEvent) throws {
    switch event {
    case .requested(let id, _, _):
      requestLength = toHost.count
      host.admit(id, at: now)
    case .connection(_, .opened):
      match.addClient()
      try sendHosted()
    case .connection(let id, .messages):
      while let message = host.pollMessage(on: id) { try play(message.bytes, message.channel) }
    default: break
    }
  }

  private mutating func play(_ bytes: [UInt8], _ channel: UInt8) throws {
    guard channel == 2 else {
      return try match.receive(.inputs, bytes.span, at: now)
    }
    try host.send(match.finalNotice.encoded, on: 2, to: hostID, at: now)
    host.close(hostID, Goodbye(.finished), as: .finished, at: now)
  }

  private mutating func handleClientEvent(_ event: HostEvent) throws {
    guard case .connection(let id, .messages) = event else { return }
    while let message = client.pollMessage(on: id) {
      switch message.channel {
      case 0: try visit.receive(.inputs, message.bytes.span, at: now)
      case 1:
        let packet = try RollbackPacket(decoding: message.bytes.span)
        try visit.receive(packet.message, packet.bytes.span, at: now)
      default: break
      }
    }
  }
}
