import CaromCore

/// Broadcasts the confirmed course of a match to any number of clients: every player's input for
/// each tick, state hashes, and a keyframe for clients that join late or fall behind.
///
/// A `RollbackServer` owns a broadcaster. In a match without a server, a peer can create a
/// broadcaster for spectators and pass it the confirmed ticks with `record(_:)`.
public struct RollbackBroadcaster<Game: Simulation & PacketCodable>: Sendable {
  /// The state kept for one client or spectator that receives the match.
  struct Client: Sendable {
    /// The player that this client controls, or nil for a spectator.
    var player: Int?
    /// The tick whose inputs the client needs next.
    var acknowledged: Tick
    /// The tick of the client's keyframe. The client has no inputs for earlier ticks.
    var base: Tick
    var isKeyframeDue = true
    var isInputDue = false
    /// The tick of the state report to send, or nil if none is due.
    var reportDue: Tick?
    /// Limits the rate of the keyframes and state reports that the client can request: each of them
    /// takes one token. The bucket counts time in ticks.
    var replies = TokenBucket(
      capacity: RollbackBroadcaster.replyLimit, tokens: 1, per: RollbackBroadcaster.replyInterval)
    /// The server's timing report on the client's inputs, to be sent with the next inputs, or nil
    /// if none is due.
    var timing: InputHeader.Timing?

    var isReplyDue: Bool { isKeyframeDue || reportDue != nil }
  }

  /// A message that is due to be sent to a client.
  private enum Due {
    case keyframe
    case stateReport(Tick)
    case inputs
  }

  /// The maximum number of clients.
  public static var clientLimit: Int { 1_024 }
  /// The maximum number of keyframes and state reports that a client can request in quick
  /// succession. Each of them contains the whole state. A client that recovers from a desync needs
  /// one of each, and more only if packets are lost.
  static var replyLimit: Int { 4 }
  /// The number of ticks after which a client can make one more such request: half a second at 60
  /// Hz.
  static var replyInterval: Int64 { 30 }

  /// The number of players.
  public let playerCount: Int
  /// The confirmed state.
  public private(set) var state: Game
  /// The next tick to confirm. The inputs of all earlier ticks are final.
  public private(set) var tick: Tick
  /// The most recent confirmed states.
  public private(set) var history: LagCompensation<Game>
  /// The events of the last step.
  public private(set) var events: [Game.Event] = []
  var confirmedInputs: [InputBuffer<Game.Input>]
  var clients: [Client?] = []
  var coder = InputCoder<Game.Input>()
  /// The inputs of the next tick, indexed by player.
  var inputs: [Game.Input]
  /// The low 32 bits of the hashes of the states in `history`, indexed by tick modulo the capacity.
  /// They are stored because a client can request them.
  private var hashes: [UInt32]

  /// Creates a broadcaster that starts with `game`, the state before the step of `tick`, and keeps
  /// the last `states` states in `history`.
  public init(_ game: Game, players: Int, at tick: Tick = .zero, keeping states: Int = 128) {
    precondition(
      Game.playerCounts.contains(players), "the simulation does not support this number of players")
    playerCount = players
    state = game
    self.tick = tick
    history = LagCompensation(keeping: states, of: game, from: tick)
    history.append(game, at: tick)
    confirmedInputs = (0..<players).map { _ in InputBuffer(from: tick) }
    inputs = Array(repeating: Game.Input(), count: players)
    hashes = Array(repeating: 0, count: states)
    storeHash()
  }

  /// Confirms the next tick with the inputs that `input` returns for each player number.
  public mutating func append(_ input: (Int) -> Game.Input) {
    for player in 0..<playerCount { inputs[player] = input(player) }
    confirmTick()
  }

  /// Confirms every tick that `rollback` has confirmed since the previous call. Call this method at
  /// least once a second, before `rollback` discards the inputs.
  public mutating func record(_ rollback: Rollback<Game>) {
    while tick < rollback.confirmedTick {
      let at = tick
      append { rollback.knownInput(for: $0, at: at) ?? Game.Input() }
    }
  }

  /// Confirms and simulates the next tick with `inputs`.
  mutating func confirmTick() {
    for player in 0..<playerCount { confirmedInputs[player].append(inputs[player]) }
    events.removeAll(keepingCapacity: true)
    Rollback.step(&state, inputs, 0..<playerCount, &events)
    tick = tick.next
    storeHash()
    history.append(state, at: tick)
    for index in clients.indices { clients[index]?.isInputDue = true }
  }

  private mutating func storeHash() {
    hashes[Int(tick.rawValue % UInt64(hashes.count))] = UInt32(truncatingIfNeeded: state.hash)
  }

  /// Returns the low 32 bits of the hash of the state at `tick`, or nil if the state is not stored.
  private func hash(at tick: Tick) -> UInt32? {
    guard tick >= history.oldest, tick < history.end else { return nil }
    return hashes[Int(tick.rawValue % UInt64(hashes.count))]
  }

  /// Returns a player's confirmed input, or nil if it is not stored.
  public func input(for player: Int, at tick: Tick) -> Game.Input? {
    tick >= confirmedInputs[player].oldest && tick < confirmedInputs[player].end
      ? confirmedInputs[player][tick] : nil
  }

  // MARK: Clients

  /// Adds a client that controls `player`, or a spectator if `player` is nil. Returns the client's
  /// number. The first message to it is a keyframe.
  public mutating func addClient(player: Int? = nil) -> Int {
    let client = Client(player: player, acknowledged: tick, base: tick)
    if let free = clients.firstIndex(where: { $0 == nil }) {
      clients[free] = client
      return free
    }
    precondition(clients.count < Self.clientLimit, "a match has at most 1,024 clients")
    clients.append(client)
    return clients.count - 1
  }

  /// Removes a client. Its number can be assigned again.
  public mutating func removeClient(_ number: Int) { clients[number] = nil }

  /// Appends the next message to `writer`, and returns its kind and the number of the receiving
  /// client. Returns nil if nothing is due before the next tick.
  public mutating func pollTransmit(
    into writer: inout PacketWriter
  ) -> (client: Int, message: RollbackMessage)? {
    for number in clients.indices {
      switch takeDue(for: number) {
      case .keyframe:
        writeKeyframe(to: number, &writer)
        return (number, .keyframe)
      case .stateReport(let tick):
        writeReport(of: tick, to: number, &writer)
        return (number, .stateReport)
      case .inputs:
        writeInputs(to: number, &writer)
        return (number, .inputs)
      case nil: continue
      }
    }
    return nil
  }

  /// Returns the next message that may be sent to a client now, or nil if there is none. A keyframe
  /// or a state report takes a token from the client's `replies`.
  private mutating func takeDue(for number: Int) -> Due? {
    guard let client = clients[number] else { return nil }
    if client.isReplyDue,
      clients[number]?.replies.consume(1, at: Int64(truncatingIfNeeded: tick.rawValue)) == true
    {
      if !client.isKeyframeDue, let report = client.reportDue { return .stateReport(report) }
      return .keyframe
    }
    guard client.isInputDue else { return nil }
    return isFarBehind(client) ? .keyframe : .inputs
  }

  /// Returns whether some of the inputs that a client needs are no longer stored.
  private func isFarBehind(_ client: Client) -> Bool {
    let room = Int64(InputBuffer<Game.Input>.capacity - InputHeader.fullContext)
    return client.acknowledged.distance(to: tick) > room
  }

  /// Appends to `writer` the inputs that a client has not acknowledged, even if they are not due.
  /// Returns false if there is no such client, or if it must receive a keyframe or a state report
  /// first.
  mutating func writeInputs(for number: Int, into writer: inout PacketWriter) -> Bool {
    guard clients.indices.contains(number), let client = clients[number], !client.isReplyDue,
      !isFarBehind(client)
    else { return false }
    writeInputs(to: number, &writer)
    return true
  }

  private mutating func writeInputs(to number: Int, _ writer: inout PacketWriter) {
    guard let client = clients[number] else { return }
    clients[number]?.isInputDue = false
    let first = client.acknowledged
    let count = min(Int(first.distance(to: tick)), SimulationLimits.ticksInPacket)
    var header = InputHeader(first: first, count: count, acknowledged: acknowledgement(for: client))
    header.timing = client.timing
    header.confirmed = hash(at: tick).map { .init(offset: first.distance(to: tick), hash: $0) }
    header.context = confirmedInputs[0].context(before: first, from: client.base)
    header.encode(into: &writer)
    var bits = BitWriter()
    for player in 0..<playerCount {
      if player == client.player {
        let isNews = differs(player, from: first, count)
        bits.write(isNews ? 1 : 0, 1, to: &writer)
        if !isNews { continue }
      }
      confirmedInputs[player].writeRun(
        from: first, count: count, context: header.context, coder: &coder, bits: &bits,
        into: &writer)
    }
    bits.finish(&writer)
  }

  /// The inputs that each player sent, indexed by player. Empty if no server owns the broadcaster.
  var sentInputs: [InputBuffer<Game.Input>] = []

  private func acknowledgement(for client: Client) -> Tick {
    guard let player = client.player, player < sentInputs.count else { return tick }
    return sentInputs[player].end
  }

  /// Returns whether any of `count` confirmed inputs of a player, starting at tick `first`, differs
  /// from the input that the player sent.
  private func differs(_ player: Int, from first: Tick, _ count: Int) -> Bool {
    guard player < sentInputs.count else { return true }
    for place in 0..<count {
      let tick = first.advanced(by: Int64(place))
      guard tick >= sentInputs[player].oldest, tick < sentInputs[player].end,
        sentInputs[player][tick] == confirmedInputs[player][tick]
      else { return true }
    }
    return false
  }

  private mutating func writeKeyframe(to number: Int, _ writer: inout PacketWriter) {
    clients[number]?.isKeyframeDue = false
    clients[number]?.acknowledged = tick
    clients[number]?.base = tick
    RollbackKeyframe(tick: tick, players: playerCount, game: state).encode(into: &writer)
  }

  private mutating func writeReport(
    of tick: Tick, to number: Int, _ writer: inout PacketWriter
  ) {
    clients[number]?.reportDue = nil
    var hashes: [UInt32] = []
    var at = tick
    while hashes.count < DesyncStateReport.hashLimit, let hash = hash(at: at) {
      hashes.append(hash)
      guard at.rawValue > 0 else { break }
      at = at.advanced(by: -1)
    }
    var description = SimulationDescription()
    history.state(at: tick)?.describe(into: &description)
    DesyncStateReport(
      tick: tick, hashes: hashes.isEmpty ? [0] : hashes, description: description, isAnswer: true
    ).encode(into: &writer)
  }

  // MARK: Receiving

  /// Processes a client's message: an acknowledgement, a keyframe request or a state report.
  public mutating func receive(
    _ message: RollbackMessage, _ bytes: Span<UInt8>, from number: Int
  ) throws(DecodeError) {
    guard clients.indices.contains(number), clients[number] != nil else { return }
    switch message {
    case .disconnect: throw .invalid(what: "disconnect to a server")
    case .seat: throw .invalid(what: "seat to a server")
    case .reconnect: throw .invalid(what: "return to a server")
    case .keyframe: try receiveRequest(bytes, from: number)
    case .stateReport: receiveReport(try DesyncStateReport(decoding: bytes), from: number)
    case .inputs:
      var reader = PacketReader(bytes)
      let header = try InputHeader(decoding: &reader)
      guard header.count == 0 else { throw .invalid(what: "a client's inputs") }
      try reader.finish()
      try acknowledge(header.first(near: tick).advanced(by: header.acknowledged), by: number)
    }
  }

  /// Processes a keyframe request, which is a keyframe message without content.
  mutating func receiveRequest(
    _ bytes: Span<UInt8>, from number: Int
  ) throws(DecodeError) {
    guard bytes.isEmpty else { throw .trailingBytes(bytes.count) }
    clients[number]?.isKeyframeDue = true
  }

  mutating func acknowledge(_ next: Tick, by number: Int) throws(DecodeError) {
    guard let client = clients[number] else { return }
    guard next <= tick else { throw .invalid(what: "acknowledged tick") }
    clients[number]?.acknowledged = max(client.acknowledged, next)
  }

  /// Schedules a report of the first tick whose state differs, or a keyframe if that state is no
  /// longer stored.
  mutating func receiveReport(_ report: DesyncStateReport, from number: Int) {
    // A report is already due. Repeated reports from the client do not add another.
    guard clients[number]?.reportDue == nil, clients[number]?.isKeyframeDue == false else {
      return
    }
    var first: Tick?
    var at = report.tick
    for hash in report.hashes {
      if let stored = self.hash(at: at), stored != hash { first = at }
      guard at.rawValue > 0 else { break }
      at = at.advanced(by: -1)
    }
    clients[number]?.reportDue = first
    if first == nil { clients[number]?.isKeyframeDue = true }
  }
}
