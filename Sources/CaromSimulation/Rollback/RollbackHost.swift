import CaromCore

/// A `RollbackServer` whose clients are the peers of a session, each identified by an id of any
/// type. The host gives each peer a player, keeps the player for a peer that comes back, and
/// reports late inputs.
///
/// The host is a polled state machine like its server. Call `add` and `remove` when peers connect
/// and disconnect, `receive` for each message, `advance()` for each tick that is due, and
/// `pollTransmit(into:)` until it returns nil. `HostedRollback` in `CaromSession` makes these calls
/// for a session.
public struct RollbackHost<Game: Simulation & PacketCodable, ID: Hashable & Sendable>: Sendable {
  /// Something that the host noticed about a client.
  public enum Event: Hashable, Sendable {
    /// At least half of a player's inputs in the last second arrived too late.
    case inputsLate(ID, player: Int)
    /// The player's inputs arrive in time again.
    case inputsOnTime(ID, player: Int)
    /// A client's state at this tick differs from the server's. The client recovers by itself.
    case desynced(ID, Tick)
    /// The oldest events were dropped because they were not polled in time. `events` is their
    /// number.
    case missed(events: Int)
  }

  private struct Client: Sendable {
    let id: ID
    let player: Int?
    var isSeatDue: Bool
    var areInputsLate = false
    /// The server's tick when the client's last desync was reported, or nil if there was none. A
    /// report about this tick or an earlier one repeats that desync and causes no further event.
    var desyncKnown: Tick?
  }

  /// The maximum number of events that wait for `pollEvent()`. If there are more, the oldest are
  /// dropped, and a `missed` event gives the number of dropped events.
  static var eventLimit: Int { 1_024 }

  /// The server: the confirmed game and its players.
  public var server: RollbackServer<Game>
  /// The players that clients can control, in ascending order. The inputs of all other players come
  /// from the server.
  public let remotePlayers: [Int]
  /// Whether the host sends each client its seat: its player and the number of ticks per second. If
  /// not, every client must already know them.
  private let announcesSeats: Bool
  /// The clients, indexed by their numbers at the server.
  private var clients: [Client?] = []
  private var numbers: [ID: Int] = [:]
  /// The last peer that controlled each player, indexed by player.
  private var lastPeers: [PeerID?]
  var events = EventQueue<Event>(limit: eventLimit)

  /// Creates a host without clients. The clients can control `remotePlayers`, by default all
  /// players. `lastPeers` are the peers that controlled the players before, indexed by player, as
  /// in a `RollbackCheckpoint`.
  public init(
    _ server: RollbackServer<Game>, remotePlayers: [Int]? = nil, announcesSeats: Bool = true,
    lastPeers: [PeerID?]? = nil
  ) {
    let all = Array(0..<server.playerCount)
    self.remotePlayers = remotePlayers?.sorted() ?? all
    precondition(
      self.remotePlayers.allSatisfy(all.contains), "a remote player must be one of the match's")
    self.server = server
    self.announcesSeats = announcesSeats
    self.lastPeers = lastPeers ?? all.map { _ in nil }
    precondition(self.lastPeers.count == all.count, "there is one last peer for each player")
  }

  // MARK: Clients

  /// The remote players that no client controls, in ascending order.
  public var freePlayers: [Int] {
    remotePlayers.filter { player in !clients.contains { $0?.player == player } }
  }

  /// Returns the player to give to a peer: the player that the peer controlled before, if that
  /// player is free; otherwise a free player, preferably one that no peer has controlled before.
  /// Returns nil if no player is free.
  public func player(for peer: PeerID) -> Int? {
    let free = freePlayers
    return free.first { lastPeers[$0] == peer } ?? free.first { lastPeers[$0] == nil }
      ?? free.first
  }

  /// Returns the last peer that controlled a player, or nil if no peer has controlled it.
  public func lastPeer(of player: Int) -> PeerID? { lastPeers[player] }

  /// Adds a client that controls `player`, which must be free, or a spectator if `player` is nil.
  /// Its first messages are its seat and a keyframe.
  public mutating func add(_ id: ID, peer: PeerID, as player: Int?) {
    precondition(numbers[id] == nil, "this client has already been added")
    precondition(player.map(freePlayers.contains) ?? true, "the player of a client must be free")
    let number = player.map { server.addPlayer($0) } ?? server.addSpectator()
    if let player { lastPeers[player] = peer }
    while clients.count <= number { clients.append(nil) }
    clients[number] = Client(id: id, player: player, isSeatDue: announcesSeats)
    numbers[id] = number
  }

  /// Removes a client. The input of the player that it controlled is neutral from the next tick on.
  /// Ignores an unknown client.
  public mutating func remove(_ id: ID) {
    guard let number = numbers.removeValue(forKey: id), let client = clients[number] else { return }
    clients[number] = nil
    if let player = client.player {
      server.removePlayer(player)
    } else {
      server.removeSpectator(number)
    }
  }

  /// Returns whether this client has been added and not removed.
  public func contains(_ id: ID) -> Bool { numbers[id] != nil }

  /// Returns the player that a client controls, or nil if the client is a spectator or unknown.
  public func player(of id: ID) -> Int? { numbers[id].flatMap { clients[$0]?.player } }

  /// Returns the client that controls a player, or nil if none does.
  public func client(of player: Int) -> ID? {
    clients.first { $0?.player == player }.flatMap { $0?.id }
  }

  /// The clients, ordered by their numbers at the server.
  public var ids: [ID] { clients.compactMap { $0?.id } }

  // MARK: Playing

  /// Confirms and simulates the next tick with the inputs received so far.
  public mutating func advance() {
    server.advance()
    for number in clients.indices {
      guard let client = clients[number], let player = client.player else { continue }
      let areLate = server.areInputsLate(of: player)
      guard areLate != client.areInputsLate else { continue }
      clients[number]?.areInputsLate = areLate
      events.append(
        areLate
          ? .inputsLate(client.id, player: player) : .inputsOnTime(client.id, player: player))
    }
  }

  /// Removes and returns the next event, or nil if there is none.
  public mutating func pollEvent() -> Event? { events.popFirst { .missed(events: $0) } }

  // MARK: Messages

  /// Appends the next message to `writer`, and returns its kind and the receiving client. Returns
  /// nil if nothing is due before the next tick.
  public mutating func pollTransmit(
    into writer: inout PacketWriter
  ) -> (client: ID, message: RollbackMessage)? {
    for number in clients.indices {
      guard let client = clients[number], client.isSeatDue else { continue }
      clients[number]?.isSeatDue = false
      RollbackSeat(player: client.player, rate: server.rate).encode(into: &writer)
      return (client.id, .seat)
    }
    while let (number, message) = server.pollTransmit(into: &writer) {
      if let client = clients[number] { return (client.id, message) }
      writer.removeAll()
    }
    return nil
  }

  /// Appends to `writer` the inputs that a client has not acknowledged, even if they are not due.
  /// Use this method to send the end of a match on a reliable channel. Returns false if there is no
  /// such client, or if it must receive a keyframe or a state report first.
  public mutating func writeInputs(for id: ID, into writer: inout PacketWriter) -> Bool {
    guard let number = numbers[id] else { return false }
    return server.writeInputs(for: number, into: &writer)
  }

  /// Processes a message from a client. Ignores messages of unknown clients. Throws an error, and
  /// changes nothing, if the message is invalid.
  public mutating func receive(
    _ message: RollbackMessage, _ bytes: Span<UInt8>, from id: ID, at now: Instant
  ) throws(DecodeError) {
    guard let number = numbers[id] else { return }
    try server.receive(message, bytes, from: number, at: now)
    guard message == .stateReport else { return }
    let reported = try DesyncStateReport(decoding: bytes).tick
    if let known = clients[number]?.desyncKnown, reported <= known { return }
    clients[number]?.desyncKnown = server.tick
    // The server replies with the first tick whose states differ, if it still has that state.
    events.append(.desynced(id, server.broadcaster.clients[number]?.reportDue ?? reported))
  }
}
