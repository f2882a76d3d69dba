import CaromCore
import CaromSimulation

/// The host's side of a match over the network. Its simulation is authoritative and never waits for
/// a client.
///
/// The host plays `home` and the client plays `away`. Any number of spectators receive the match.
/// Of the client's messages, only the inputs affect the match: the mallet's target and the client's
/// requests.
public struct HostedMatch: Sendable {
  /// The time between the end of a match and the start of the next one, in ticks: 3 s.
  public static let restTicks = 3 * Int64(Preset.ticksPerSecond)

  private var server: RollbackServer<Rink>
  /// The client's id, or nil if no client has the away seat.
  public private(set) var client: Int?
  /// The home player's pending requests. One is carried out per tick.
  private var requests: [RinkInput.Request] = []
  private var endedAt: Tick?
  /// The events of the ticks in which a client returned. The next `step` returns them.
  private var eventsOfReturn: [RinkEvent] = []
  private var writer = PacketWriter(capacity: 512)

  /// Creates a host whose away seat is free. The first tick is due one tick after `now`.
  public init(at now: Instant) {
    server = RollbackServer(
      Rink(match: 0), players: 2, rate: Preset.ticksPerSecond, at: now)
  }

  /// The current state of the match.
  public var state: RinkState { server.game.state }
  /// The time at which the next tick is due.
  public var nextTick: Instant { server.nextTick }
  /// The number of ticks for which the client's input did not arrive in time.
  public var missedInputs: Int { server.missedInputs(of: 1) }

  /// Returns the number of ticks that have become due since the previous call. Call `step` once for
  /// each.
  public mutating func takeDueTicks(at now: Instant) -> Int { server.takeDueTicks(at: now) }

  /// The broadcaster, which stores the inputs and states of at least the last second.
  var broadcaster: RollbackBroadcaster<Rink> { server.broadcaster }

  // MARK: Clients and spectators

  /// Gives the away seat to a client, and returns the client's id. If the client is `returning`,
  /// the current match continues and the client's own pause ends; otherwise, a new match begins at
  /// 0-0. Simulates one tick; for a returning client, the next `step` also returns the events of
  /// that tick.
  public mutating func addClient(returning: Bool, at now: Instant) -> Int {
    removeClient()
    _ = server.takeDueTicks(at: now)  // skips the ticks while the seat was free
    requests = []
    // This step applies the request, so that the client's first state includes its effect.
    if returning {
      server.setInput(RinkInput(nil, request: .resume), for: 1)
    } else {
      server.setInput(RinkInput(nil, request: .restart), for: 0)
    }
    advance()
    eventsOfReturn = returning ? eventsOfReturn + server.events : []
    let id = server.addPlayer(1)
    client = id
    return id
  }

  /// Frees the away seat, if it is taken.
  public mutating func removeClient() {
    if client != nil { server.removePlayer(1) }
    client = nil
  }

  /// Adds a spectator and returns its id.
  public mutating func addSpectator() -> Int { server.addSpectator() }

  /// Removes the spectator with the given id.
  public mutating func removeSpectator(_ id: Int) { server.removeSpectator(id) }

  // MARK: Playing

  /// Queues a request from the home player. Each request is carried out in a separate tick.
  public mutating func request(_ request: RinkInput.Request) { requests.append(request) }

  /// Simulates one tick with the home player's input, and returns the events since the last call.
  public mutating func step(home: MalletInput) -> [RinkEvent] {
    if isRested, !requests.contains(.startMatch) { requests.append(.startMatch) }
    let request = requests.isEmpty ? nil : requests.removeFirst()
    server.setInput(RinkInput(home, request: request), for: 0)
    advance()
    defer { eventsOfReturn = [] }
    return eventsOfReturn + server.events
  }

  private mutating func advance() {
    server.advance()
    if case .matchEnd = state.phase { endedAt = endedAt ?? server.tick } else { endedAt = nil }
  }

  private var isRested: Bool {
    guard let endedAt, !state.isPaused else { return false }
    return endedAt.distance(to: server.tick) >= Self.restTicks
  }

  /// The notice that ends a session, with the number of the match and its score.
  public var finalNotice: MatchNotice { .ended(match: state.match, state.score) }

  // MARK: Messages

  /// Handles a message from the client or spectator with the given id. Throws if the message is
  /// malformed.
  public mutating func receive(
    _ kind: RollbackMessage, _ bytes: Span<UInt8>, from id: Int, at now: Instant
  ) throws(DecodeError) { try server.receive(kind, bytes, from: id, at: now) }

  /// Returns the encoded inputs that a recipient has not acknowledged, to be sent reliably at the
  /// end of a session. Returns nil if no recipient has this id, or if the recipient must receive a
  /// keyframe or a state report first.
  public mutating func unacknowledgedInputs(for id: Int) -> [UInt8]? {
    writer.removeAll()
    return server.writeInputs(for: id, into: &writer) ? writer.bytes : nil
  }

  /// Returns the next message to send, or nil if nothing is due before the next tick.
  public mutating func pollMessage() -> MatchMessage? {
    writer.removeAll()
    guard let (id, kind) = server.pollTransmit(into: &writer) else { return nil }
    return MatchMessage(recipient: id, kind: kind, bytes: writer.bytes)
  }
}
