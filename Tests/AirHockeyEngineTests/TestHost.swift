import AirHockey
import CaromCore
import CaromProtocol
import CaromSimulation
import WebEngine

@testable import AirHockeyEngine

/// The host of a match of a client and a computer player, with streams that deliver what was
/// written after `delay`. Everything happens on the time of the test.
struct TestHost {
  /// The time for which bytes are on the way.
  var delay = Duration.milliseconds(20)
  /// Whether players and spectators get a player of the match. A true host gives spectators none.
  var seatsPlayers = true
  var seatsSpectators = false
  /// The host's sessions, and the match that it serves.
  private(set) var match: RollbackHost<Rink, ConnectionID>
  /// The peer that has asked for a seat last.
  private(set) var requested: PeerInfo?
  /// The reasons for which connections have ended.
  private(set) var ended: [DisconnectReason] = []
  private var host: Host
  private var computer: ComputerPlayer
  private var requests = HomeRequests()
  /// The connection that the newest stream belongs to.
  private var stream: ConnectionID?
  private var toHost: [(arrival: Instant, bytes: [UInt8])] = []
  private var toEngine: [(arrival: Instant, bytes: [UInt8])] = []
  /// The route of the engine's datagrams; nil without a data channel. Every tenth is lost.
  var channel: Route?
  private var datagramsToHost: [(arrival: Instant, bytes: [UInt8])] = []
  private var datagramsToEngine: [(arrival: Instant, bytes: [UInt8])] = []
  /// The number of datagrams that either side has sent.
  private(set) var datagrams = 0

  init(
    version: UInt16 = NetworkMatch.version, seats: Int = 1, client: Seat = .away, at now: Instant
  ) {
    let local = PeerInfo(
      id: PeerID(high: 1, low: 1), name: "Maya", application: "airhockey",
      applicationVersion: version)
    host = Host(local, seats: seats, spectatorSeats: 1)
    match = RollbackHost(
      RollbackServer(Rink(), players: 2, rate: Preset.ticksPerSecond, at: now),
      remotePlayers: [Int(client.rawValue)])
    computer = ComputerPlayer(client.opponent, strength: .hard, seed: 5)
  }

  /// Accepts a stream from the engine. What was on the way on an earlier one is lost.
  mutating func accept(at now: Instant) {
    (toHost, toEngine) = ([], [])
    let id = host.makeConnectionID()
    if host.accept(id, at: now) { stream = id }
    drain(at: now)
  }

  /// Breaks the stream.
  mutating func breakStream(at now: Instant) {
    (toHost, toEngine) = ([], [])
    if let stream { host.handleLinkEnd(.reset, of: stream, at: now) }
    stream = nil
    drain(at: now)
  }

  /// Sends what the host's owner would send at the end of a session, and says goodbye: the inputs
  /// of the last tick, reliably, and the final score.
  mutating func finish(at now: Instant) {
    guard let stream else { return }
    match.advance()
    var writer = PacketWriter()
    if match.writeInputs(for: stream, into: &writer) { send(writer, on: stream, at: now) }
    let state = match.server.state.state
    let notice = MatchNotice.ended(match: state.match, state.score).encoded
    _ = try? host.send(notice.span, on: 2, SendOptions(.reliableOrdered), to: stream, at: now)
    host.close(stream, Goodbye(.finished), at: now)
    drain(at: now)
  }

  private mutating func send(_ inputs: PacketWriter, on stream: ConnectionID, at now: Instant) {
    let packet = RollbackPacket(.inputs, inputs.bytes).encoded
    _ = try? host.send(packet.span, on: 1, SendOptions(.reliableOrdered), to: stream, at: now)
  }

  /// Sends bytes on a channel, which may violate the protocol.
  mutating func send(_ bytes: [UInt8], on channel: UInt8, at now: Instant) {
    guard let stream else { return }
    _ = try? host.send(bytes.span, on: channel, SendOptions(.reliableOrdered), to: stream, at: now)
    drain(at: now)
  }

  /// Passes bytes between the engine and the host, and plays what is due.
  mutating func exchange(with engine: AirHockeyEngine, at now: Instant) {
    let sent = engine.takeOutput(upTo: 1 << 16, queued: 0, at: now)
    if !sent.isEmpty { toHost.append((now + delay, sent)) }
    while let next = toHost.first, next.arrival <= now {
      toHost.removeFirst()
      if let stream { host.receive(next.bytes.span, on: stream, at: now) }
      drain(at: now)
    }
    exchangeDatagrams(with: engine, at: now)
    if let timeout = host.nextTimeout, now >= timeout { host.handleTimeout(at: now) }
    playDueTicks(at: now)
    drain(at: now)
    while let next = toEngine.first, next.arrival <= now {
      toEngine.removeFirst()
      // One byte at a time: the cuts of a link mean nothing.
      for byte in next.bytes { engine.receive([byte].span, at: now) }
    }
  }

  private mutating func exchangeDatagrams(with engine: AirHockeyEngine, at now: Instant) {
    while case let datagram = engine.takeDatagram(at: now), !datagram.isEmpty {
      if passesDatagram() { datagramsToHost.append((now + delay, datagram)) }
    }
    while let next = datagramsToHost.first, next.arrival <= now {
      datagramsToHost.removeFirst()
      if let channel { host.receiveDatagram(next.bytes.span, from: channel, at: now) }
      drain(at: now)
    }
    while let next = datagramsToEngine.first, next.arrival <= now {
      datagramsToEngine.removeFirst()
      engine.receiveDatagram(next.bytes.span, at: now)
    }
  }

  private mutating func passesDatagram() -> Bool {
    datagrams += 1
    return channel != nil && !datagrams.isMultiple(of: 10)
  }

  private mutating func playDueTicks(at now: Instant) {
    for _ in 0..<match.server.takeDueTicks(at: now) {
      let state = match.server.state.state
      let input = requests.input(computer.input(for: state), in: state)
      match.server.setInput(input, for: Int(computer.seat.rawValue))
      match.advance()
    }
    var writer = PacketWriter()
    while let (id, message) = match.pollTransmit(into: &writer) {
      let isInputs = message == .inputs
      let bytes = isInputs ? writer.bytes : RollbackPacket(message, writer.bytes).encoded
      let delivery = isInputs ? Delivery.unreliableSequenced : .reliableOrdered
      _ = try? host.send(
        bytes.span, on: isInputs ? 0 : 1, SendOptions(delivery), to: id, at: now)
      writer.removeAll()
    }
  }

  private mutating func drain(at now: Instant) {
    repeat {
      while let event = host.pollEvent() { handle(event, at: now) }
      while let reply = host.pollStatelessReply() {
        if passesDatagram() { datagramsToEngine.append((now + delay, reply.bytes)) }
      }
      while let id = host.pollReady() {
        var sent: [UInt8] = []
        var hasSent = true
        while hasSent {
          hasSent = host.pollTransmit(on: id, queued: 0, at: now) { sent.append(copying: $0) }
        }
        if !sent.isEmpty { toEngine.append((now + delay, sent)) }
        if host.pollLinkAction(on: id) != nil { stream = nil }
        var datagram: [UInt8] = []
        while host.pollDatagram(on: id, into: &datagram, at: now) != nil {
          if passesDatagram() { datagramsToEngine.append((now + delay, datagram)) }
          datagram.removeAll()
        }
        host.didFlush(id, at: now)
      }
    } while host.hasEvents
  }

  private mutating func handle(_ event: HostEvent, at now: Instant) {
    switch event {
    case .requested(let id, let info, _):
      requested = info
      host.admit(id, at: now)
    case .connection(let id, .opened(let info)):
      let isSeated = info.isSpectator ? seatsSpectators : seatsPlayers
      match.add(id, peer: info.id, as: isSeated ? match.player(for: info.id) : nil)
    case .connection(let id, .messages): receiveMessages(on: id, at: now)
    case .adopted(_, let owner): stream = owner
    case .closed(let id, _, let reason, _):
      ended.append(reason)
      match.remove(id)
    default: break
    }
  }

  private mutating func receiveMessages(on id: ConnectionID, at now: Instant) {
    var messages: [(channel: UInt8, bytes: [UInt8])] = []
    while host.pollMessage(on: id, { messages.append(($0, Array(copying: $1))) }) {}
    for (channel, bytes) in messages {
      if channel == 0 {
        try? match.receive(.inputs, bytes.span, from: id, at: now)
      } else if let packet = try? RollbackPacket(decoding: bytes.span) {
        try? match.receive(packet.message, packet.bytes.span, from: id, at: now)
      }
    }
  }
}
