import CaromCore
import CaromProtocol
import CaromSimulation
import WebEngine

/// Any game for a page in a browser: one match at a time, without a network or as the client of a
/// host. The page passes it the time, what its link has received and the inputs of its players; it
/// polls it for what to send, draw and play.
package final class GameEngine<Game: Simulation & PacketCodable> {
  /// The number of desyncs after which the host is assumed to run another version of the game.
  package static var desyncLimit: Int { 8 }
  /// The rates at which a game can be played without a network, in ticks per second.
  package static var rates: ClosedRange<Int> { 1...1000 }

  /// A state that the page can ask for.
  package enum StateKind: Int32, Sendable {
    /// The state after the last tick; over the network, a predicted one.
    case current = 0
    /// The state before the last tick.
    case previous = 1
    /// The state after the last tick that is certain.
    case confirmed = 2
  }

  /// What happened to the connection.
  package var linkEvents = EventList<LinkEvent>()
  /// What happened in the game.
  package var events = EventList<GameEvent>()
  // One of the two, or none.
  private var local: LocalGame<Game>?
  private var client: PageClient<Game>?
  private var input = HeldInput<Game.Input>()
  private var desyncs = 0
  private let encode: ((Game.Event) -> [UInt8])?

  /// Creates an engine without a match, for a game whose events are encoded by `encode`.
  package init(_ game: Game.Type, encode: ((Game.Event) -> [UInt8])?) { self.encode = encode }

  // MARK: Matches

  /// Begins a game without a network from an encoded state. Returns false if the state is not
  /// valid, or if the game does not have this number of players or rate.
  package func start(_ state: [UInt8], players: Int, rate: Int, at now: Instant) -> Bool {
    guard Game.playerCounts.contains(players), Self.rates.contains(rate),
      let game = try? Game(decoding: state.span)
    else { return false }
    clear()
    local = LocalGame(game, players: players, rate: rate, at: now)
    return true
  }

  /// Prepares to join a host, as soon as the page has opened a link to it.
  package func join(
    as info: PeerInfo, channels: (inputs: UInt8, control: UInt8), at now: Instant
  ) {
    clear()
    var generator = SystemRandomNumberGenerator()
    client = PageClient(
      info, key: ConnectionKey(using: &generator), channels: channels, at: now)
  }

  private func clear() {
    (local, client, desyncs) = (nil, nil, 0)
    (linkEvents, events, input) = (EventList(), EventList(), HeldInput())
  }

  /// The name of the host, or an empty string while it is not known.
  package var hostName: String { client?.peer?.name ?? "" }

  /// The host's explanation for the end of the connection; empty if it gave none.
  package var endText: String {
    switch client?.endReason {
    case .declined(let text), .kicked(let text): text
    default: ""
    }
  }

  // MARK: The link

  /// Begins a link that the page has opened. Returns whether the engine uses it.
  package func openLink(at now: Instant) -> Bool {
    defer { handleNotices(at: now) }
    return client?.openStream(at: now) ?? false
  }

  /// Receives bytes from the link.
  package func receive(_ bytes: Span<UInt8>, at now: Instant) {
    client?.receive(bytes, at: now)
    handleNotices(at: now)
  }

  /// Handles the end of the link, or the failure to open it.
  package func closeLink(_ end: LinkEnd, at now: Instant) {
    client?.closeStream(end, at: now)
    handleNotices(at: now)
  }

  /// Begins to use a datagram link that the page has opened. Returns whether the engine uses it.
  package func openDatagrams(at now: Instant) -> Bool {
    defer { handleNotices(at: now) }
    return client?.openDatagrams(at: now) ?? false
  }

  /// Receives a datagram.
  package func receiveDatagram(_ bytes: Span<UInt8>, at now: Instant) {
    client?.receiveDatagram(bytes, at: now)
    handleNotices(at: now)
  }

  /// Removes and returns the next datagram to send, or no bytes if there is none.
  package func takeDatagram(at now: Instant) -> [UInt8] {
    defer { handleNotices(at: now) }
    return client?.takeDatagram(at: now) ?? []
  }

  /// Handles the end of the datagram link.
  package func closeDatagrams(at now: Instant) {
    client?.closeDatagrams(at: now)
    handleNotices(at: now)
  }

  /// The kind of the link that carries messages now, or nil if no link can.
  package var messageLink: LinkKind? { client?.messageLink }

  /// Says goodbye to the host.
  package func leave(_ goodbye: Goodbye = Goodbye(.left), at now: Instant) {
    client?.leave(goodbye, at: now)
    handleNotices(at: now)
  }

  /// Removes and returns up to `limit` of the bytes to send on the link, on which `queued` bytes
  /// wait.
  package func takeOutput(upTo limit: Int, queued: Int, at now: Instant) -> [UInt8] {
    defer { handleNotices(at: now) }
    return client?.takeOutput(upTo: limit, queued: queued, at: now) ?? []
  }

  /// Removes and returns what to do with the link once the output has been taken, or nil.
  package func takeLinkAction() -> LinkAction? { client?.takeLinkAction() }

  /// The time at which `step(at:)` has to be called at the latest to keep the connection, or nil.
  package var nextTimeout: Instant? { client?.nextTimeout }

  private func handleNotices(at now: Instant) {
    while let notice = client?.pollNotice() { handle(notice, at: now) }
  }

  private func handle(_ notice: PageClient<Game>.Notice, at now: Instant) {
    switch notice {
    case .joined: linkEvents.append(.joined)
    case .interrupted: linkEvents.append(.interrupted)
    case .resumed: linkEvents.append(.resumed)
    case .reconnect: linkEvents.append(.reconnect)
    case .desynced:
      desyncs += 1
      if desyncs > Self.desyncLimit { client?.reject(at: now) }
    // The page has no use for other messages of the game.
    case .message: break
    case .left(let reason):
      reportEvents()
      linkEvents.append(.left(EndCode(reason)))
    }
  }

  // MARK: Playing

  /// Sets the input of a player from the next tick on, until another one is set. Over the network,
  /// it is that of this page's player, and `player` is ignored. Returns false if the input is not
  /// valid or there is no such player.
  package func setInput(_ fields: [Int32], for player: Int) -> Bool {
    guard fields.count == Game.Input.fieldCount,
      let next = try? Game.Input(fields: fields.span)
    else { return false }
    guard client == nil else {
      input.set(next)
      return true
    }
    return local?.setInput(next, for: player) ?? false
  }

  /// Handles the timeouts that are due, and plays the ticks that are. Returns their number.
  @discardableResult
  package func step(at now: Instant) -> Int {
    guard client != nil else {
      return local?.step(at: now) { append(.confirmed, $0, $1) } ?? 0
    }
    client?.receive(at: now)
    handleNotices(at: now)
    var ticks = 0
    while client?.isTickDue == true {
      // A one-time action waits for the first state.
      let isPlaying = client?.client.rollback != nil
      client?.advance(with: isPlaying ? input.take() : Game.Input(), at: now)
      reportEvents()
      ticks += 1
    }
    handleNotices(at: now)
    return ticks
  }

  private func reportEvents() {
    while let next = client?.pollEvent() {
      switch next {
      case .predicted(let event, let tick): append(.predicted, event, tick)
      case .confirmed(let event, let tick): append(.confirmed, event, tick)
      case .retracted(let event, let tick): append(.retracted, event, tick)
      }
    }
  }

  private func append(_ certainty: GameEvent.Certainty, _ event: Game.Event, _ tick: Tick) {
    events.append(GameEvent(certainty, tick, encode?(event) ?? []))
  }

  // MARK: State

  /// Returns the encoded state of a kind, or nil if there is none.
  package func state(_ kind: StateKind) -> [UInt8]? {
    let client = client?.client
    let game: Game? =
      switch kind {
      case .current: client?.state ?? local?.state
      case .previous: client?.rollback.map(Self.previous) ?? local?.previous
      case .confirmed: client?.confirmedState ?? local?.state
      }
    return game?.encoded
  }

  private static func previous(of rollback: Rollback<Game>) -> Game {
    guard rollback.tick.rawValue > 0 else { return rollback.state }
    return rollback.state(at: rollback.tick.advanced(by: -1)) ?? rollback.state
  }

  /// Returns how the game stands at `now`.
  package func status(at now: Instant) -> GameStatus {
    var status = GameStatus()
    if let local {
      status.tick = local.tick
      status.fraction = local.fraction(at: now)
      status.rate = local.rate
    }
    guard let client else { return status }
    status.tick = client.client.rollback?.tick ?? .zero
    status.fraction = client.client.fraction(at: now)
    status.roundTrip = client.client.roundTrip == .zero ? nil : client.client.roundTrip
    status.link = client.linkState
    status.player = client.client.player
    status.predictedTicks = client.client.predictedTicks
    status.inputDelay = client.client.currentInputDelay
    status.desyncs = desyncs
    status.rate = client.client.rate
    return status
  }

  /// The number of ticks after which the state is certain, and the hash of that state; nil without
  /// a match.
  package var confirmed: (tick: UInt64, hash: UInt64)? {
    if let local { return (local.tick.rawValue, local.state.hash) }
    guard let rollback = client?.client.rollback, let state = client?.client.confirmedState else {
      return nil
    }
    return (rollback.confirmedTick.rawValue, state.hash)
  }
}
