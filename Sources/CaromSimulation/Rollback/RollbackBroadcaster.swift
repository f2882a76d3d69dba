import CaromCore

/// What is decided of a game in step, told to any number of clients: every player's input of each
/// tick, a hash, and a keyframe for whoever comes late or falls behind.
///
/// A server owns one, and so does a peer that lets others watch: then it is given the inputs of
/// each confirmed tick.
public struct RollbackBroadcaster<Game: Simulation & PacketCodable>: Sendable {
  /// Somebody who is told.
  struct Client: Sendable {
    /// Whose player it is; nobody's where it only watches.
    var player: Int?
    /// The tick whose inputs it needs next.
    var acknowledged: Tick
    /// The tick of its keyframe: of inputs before it, it knows nothing.
    var base: Tick
    var isKeyframeDue = true
    var isInputDue = false
    /// The tick of a state report that is due.
    var reportDue: Tick?
    /// What the server tells it of its inputs.
    var timing: InputHeader.Timing?
  }

  /// The most clients.
  public static var clientLimit: Int { 1_024 }

  /// How many players there are.
  public let playerCount: Int
  /// The decided state.
  public private(set) var game: Game
  /// The decided tick: the inputs of all earlier ones are decided.
  public private(set) var tick: Tick
  /// The decided states of the last second or two.
  public private(set) var history: LagCompensation<Game>
  /// What happened in the last step.
  public private(set) var events: [Game.Event] = []
  var decided: [InputBuffer<Game.Input>]
  var clients: [Client?] = []
  var coder = InputCoder<Game.Input>()
  /// The inputs of the tick that is being decided.
  var inputs: [Game.Input]
  private var hash: UInt64

  /// Begins with `game` at `tick`, and keeps that many states.
  public init(_ game: Game, players: Int, at tick: Tick = .zero, keeping states: Int = 128) {
    precondition(Game.playerCounts.contains(players), "as many players as can play")
    playerCount = players
    self.game = game
    self.tick = tick
    history = LagCompensation(keeping: states, of: game, from: tick)
    history.append(game, at: tick)
    decided = (0..<players).map { _ in InputBuffer(from: tick) }
    inputs = Array(repeating: Game.Input(), count: players)
    hash = game.hash
  }

  /// Decides the next tick: `input` gives each player's.
  public mutating func append(_ input: (Int) -> Game.Input) {
    for player in 0..<playerCount { inputs[player] = input(player) }
    decide()
  }

  /// Decides every tick that a peer confirmed since the last call; at least once a second.
  public mutating func record(_ rollback: Rollback<Game>) {
    while tick < rollback.confirmedTick {
      let at = tick
      append { rollback.knownInput(for: $0, at: at) ?? Game.Input() }
    }
  }

  /// Decides the next tick with what stands in `inputs`.
  mutating func decide() {
    for player in 0..<playerCount { decided[player].append(inputs[player]) }
    events.removeAll(keepingCapacity: true)
    Rollback.step(&game, inputs, 0..<playerCount, &events)
    tick = tick.next
    hash = game.hash
    history.append(game, at: tick)
    for index in clients.indices { clients[index]?.isInputDue = true }
  }

  /// An input that was decided and is kept.
  public func input(for player: Int, at tick: Tick) -> Game.Input? {
    tick >= decided[player].oldest && tick < decided[player].end ? decided[player][tick] : nil
  }

  // MARK: Watchers

  /// Somebody begins to watch, as that player or as nobody; it is sent a keyframe first.
  public mutating func addClient(player: Int? = nil) -> Int {
    let client = Client(player: player, acknowledged: tick, base: tick)
    if let free = clients.firstIndex(where: { $0 == nil }) {
      clients[free] = client
      return free
    }
    precondition(clients.count < Self.clientLimit, "1,024 clients at most")
    clients.append(client)
    return clients.count - 1
  }

  /// Somebody stops watching; the number is free again.
  public mutating func removeClient(_ number: Int) { clients[number] = nil }

  /// Appends the next message to `writer` and says to which client; `nil` when all is said.
  public mutating func pollTransmit(
    into writer: inout PacketWriter
  ) -> (client: Int, message: RollbackMessage)? {
    for number in clients.indices {
      guard let message = due(to: number) else { continue }
      switch message {
      case .keyframe:
        clients[number]?.isKeyframeDue = false
        clients[number]?.acknowledged = tick
        clients[number]?.base = tick
        RollbackKeyframe(tick: tick, players: playerCount, game: game).encode(into: &writer)
      case .stateReport: writeReport(to: number, &writer)
      case .inputs: writeInputs(to: number, &writer)
      case .disconnect: continue
      }
      return (number, message)
    }
    return nil
  }

  private mutating func due(to number: Int) -> RollbackMessage? {
    guard let client = clients[number] else { return nil }
    if client.isKeyframeDue { return .keyframe }
    if client.reportDue != nil { return .stateReport }
    guard client.isInputDue else { return nil }
    let room = Int64(InputBuffer<Game.Input>.capacity - InputHeader.fullContext)
    guard client.acknowledged.distance(to: tick) <= room else {
      return .keyframe  // too far behind for what is kept
    }
    return .inputs
  }

  /// Appends the inputs that a client has not acknowledged, whether they are due or not; false
  /// where it has to begin anew instead.
  mutating func writeInputs(for number: Int, into writer: inout PacketWriter) -> Bool {
    guard clients.indices.contains(number), clients[number] != nil else { return false }
    clients[number]?.isInputDue = true
    guard due(to: number) == .inputs else { return false }
    writeInputs(to: number, &writer)
    return true
  }

  private mutating func writeInputs(to number: Int, _ writer: inout PacketWriter) {
    guard let client = clients[number] else { return }
    clients[number]?.isInputDue = false
    let first = client.acknowledged
    let count = min(Int(first.distance(to: tick)), SimulationLimits.ticksInPacket)
    var header = InputHeader(first: first, count: count, acknowledged: needed(from: client))
    header.timing = client.timing
    header.confirmed = .init(
      offset: first.distance(to: tick), hash: UInt32(truncatingIfNeeded: hash))
    header.context = decided[0].context(before: first, from: client.base)
    header.encode(into: &writer)
    var bits = InputBitWriter()
    for player in 0..<playerCount {
      if player == client.player {
        let isNews = differs(player, from: first, count)
        bits.write(isNews ? 1 : 0, 1, to: &writer)
        if !isNews { continue }
      }
      decided[player].writeRun(
        from: first, count: count, context: header.context, coder: &coder, bits: &bits,
        into: &writer)
    }
    bits.finish(&writer)
  }

  /// What a player sent itself, where a server owns the feed.
  var sent: [InputBuffer<Game.Input>] = []

  private func needed(from client: Client) -> Tick {
    guard let player = client.player, player < sent.count else { return tick }
    return sent[player].end
  }

  /// Whether what was decided of a player's inputs is not what the player sent.
  private func differs(_ player: Int, from first: Tick, _ count: Int) -> Bool {
    guard player < sent.count else { return true }
    for place in 0..<count {
      let tick = first.advanced(by: Int64(place))
      guard tick >= sent[player].oldest, tick < sent[player].end,
        sent[player][tick] == decided[player][tick]
      else { return true }
    }
    return false
  }

  private mutating func writeReport(to number: Int, _ writer: inout PacketWriter) {
    guard let tick = clients[number]?.reportDue else { return }
    clients[number]?.reportDue = nil
    var hashes: [UInt32] = []
    var at = tick
    while hashes.count < DesyncStateReport.hashLimit, let state = history.state(at: at) {
      hashes.append(UInt32(truncatingIfNeeded: state.hash))
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

  /// Takes a client's message: what it needs next, or that its state is another.
  public mutating func receive(
    _ message: RollbackMessage, _ bytes: Span<UInt8>, from number: Int
  ) throws(DecodeError) {
    guard clients.indices.contains(number), clients[number] != nil else { return }
    switch message {
    case .disconnect: throw .invalid(what: "disconnect to a server")
    case .keyframe: try receiveRequest(bytes, from: number)
    case .stateReport: receiveReport(try DesyncStateReport(decoding: bytes), from: number)
    case .inputs:
      var reader = PacketReader(bytes)
      let header = try InputHeader(decoding: &reader)
      guard header.count == 0 else { throw .invalid(what: "a client's inputs") }
      try acknowledge(header.first(near: tick).advanced(by: header.acknowledged), by: number)
      try reader.finish()
    }
  }

  /// An empty keyframe asks for one.
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

  /// Answers with the state of the first tick that differs; with a new beginning where that is
  /// not kept.
  mutating func receiveReport(_ report: DesyncStateReport, from number: Int) {
    // One answer is under way: whoever asks on and on has no other.
    guard clients[number]?.reportDue == nil, clients[number]?.isKeyframeDue == false else {
      return
    }
    var first: Tick?
    var at = report.tick
    for hash in report.hashes {
      if let state = history.state(at: at), UInt32(truncatingIfNeeded: state.hash) != hash {
        first = at
      }
      guard at.rawValue > 0 else { break }
      at = at.advanced(by: -1)
    }
    clients[number]?.reportDue = first
    if first == nil { clients[number]?.isKeyframeDue = true }
  }
}
