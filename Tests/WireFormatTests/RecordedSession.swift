import AirHockey
import CaromCore
import CaromProtocol
import CaromSimulation

/// What host and guest of a short match put on the wire, made by the machines on virtual time:
/// handshake, pings, a keyframe, inputs, a pause and its end, and the last word.
struct RecordedSession {
  private(set) var toHost: [UInt8] = []
  private(set) var toGuest: [UInt8] = []
  /// How much of `toHost` came before the grant, which everything else waits for.
  private(set) var requestLength = 0
  /// How much of `toGuest` came with the grant, before any carrier.
  private(set) var grantLength = 0
  /// How many carriers each side sent at most: of so little each poll makes one.
  private(set) var (carriersToHost, carriersToGuest) = (0, 0)
  /// When it ended.
  private(set) var now = Instant(nanoseconds: 1_000_000_000)

  private var host = Host(nameless, seats: 1)
  private var guest = Host(leo, seats: 0)
  private let hostLink: ConnectionID
  private let guestLink: ConnectionID
  private var match = HostedMatch(at: .zero)
  private var visit = JoinedMatch(at: .zero)
  private var watcher = 0
  private var players = (
    home: ComputerPlayer(.home, seed: 1), away: ComputerPlayer(.away, strength: .easy, seed: 2)
  )

  init(ticks: Int) throws {
    hostLink = host.makeConnectionID()
    guestLink = guest.makeConnectionID()
    _ = host.accept(hostLink, at: now)
    guest.handleStreamConnected(guestLink, at: now)
    try exchange()
    for tick in 0..<ticks {
      now = now + .nanoseconds(16_666_667)
      host.handleTimeout(at: now)
      guest.handleTimeout(at: now)
      if tick == ticks / 3 { visit.ask(.pause) }
      if tick == ticks / 2 { visit.ask(.resume) }
      try step()
      try exchange()
    }
    try guest.send(TableWord.finish.encoded, on: 2, to: guestLink, at: now)
    try exchange()
  }

  private mutating func step() throws {
    _ = match.step(home: players.home.input(for: match.state))
    try sendHosted()
    guard let state = visit.state else { return }
    visit.step(players.away.input(for: state), at: now)
    while let (kind, bytes) = visit.pollMessage() {
      try Self.send(kind, bytes, from: &guest, to: guestLink, at: now)
    }
  }

  private mutating func sendHosted() throws {
    while let message = match.pollMessage() {
      try Self.send(message.kind, message.bytes, from: &host, to: hostLink, at: now)
    }
  }

  private static func send(
    _ kind: RollbackMessage, _ bytes: [UInt8], from side: inout Host, to link: ConnectionID,
    at now: Instant
  ) throws {
    if kind == .inputs {
      try side.send(bytes, on: 0, .unreliableSequenced, to: link, at: now)
    } else {
      try side.send(RollbackPacket(kind, bytes).encoded, on: 1, to: link, at: now)
    }
  }

  /// Carries bytes both ways until there are none.
  private mutating func exchange() throws {
    while true {
      let up = guest.pollTransmit(on: guestLink, queued: 0, at: now) ?? []
      let down = host.pollTransmit(on: hostLink, queued: 0, at: now) ?? []
      if up.isEmpty && down.isEmpty { return }
      toHost += up
      toGuest += down
      if grantLength == 0 { grantLength = toGuest.count }
      carriersToHost += 1
      carriersToGuest += 1
      host.receive(up.span, on: hostLink, at: now)
      guest.receive(down.span, on: guestLink, at: now)
      while let event = host.pollEvent() { try tell(event) }
      while let event = guest.pollEvent() { try hear(event) }
    }
  }

  private mutating func tell(_ event: HostEvent) throws {
    switch event {
    case .requested(let link, _, _):
      requestLength = toHost.count
      host.admit(link, at: now)
    case .connection(_, .opened):
      watcher = match.seatGuest(same: false, at: now)
      try sendHosted()
    case .connection(let link, .messages):
      while let message = host.pollMessage(on: link) { try play(message.bytes, message.channel) }
    default: break
    }
  }

  private mutating func play(_ bytes: [UInt8], _ channel: UInt8) throws {
    guard channel == 2 else {
      return try match.receive(.inputs, bytes.span, from: watcher, at: now)
    }
    try host.send(match.ending.encoded, on: 2, to: hostLink, at: now)
    host.close(hostLink, Goodbye(.finished), as: .finished, at: now)
  }

  private mutating func hear(_ event: HostEvent) throws {
    guard case .connection(let link, .messages) = event else { return }
    while let message = guest.pollMessage(on: link) {
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
