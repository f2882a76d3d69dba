import CaromCore

/// The server of a game in step: it collects the players' inputs, decides each tick on time, and
/// tells everybody. Nobody's silence stops the game: whose input is not there holds the last one,
/// and what happens once in a late input happens in the next tick instead, never twice.
///
/// A polled machine: `receive`, `advance` for each tick that `takeDueTicks` counts, `pollTransmit`.
public struct RollbackServer<Game: Simulation & PacketCodable>: Sendable {
  /// What is known of a player's seat.
  struct Seat: Sendable {
    var client: Int?
    /// What happens once in inputs that came too late, and what the server itself gave.
    var carry: Game.Input?
    /// By how many ticks inputs come before their tick is made: mean, and mean deviation.
    var arrivalMargin = 0.0
    var deviation = 0.0
    var samples = 0
    /// How often an input was not there in time.
    var missed = 0
  }

  /// The decided game and whoever watches it.
  public internal(set) var broadcaster: RollbackBroadcaster<Game>
  var seats: [Seat]
  private var pace: ClockPace
  /// How far ahead of the tick a player's inputs are kept: two seconds at 60 Hz.
  static var ahead: Int64 { 120 }

  /// Ticks from one report on a player's inputs to the next.
  static var timingInterval: UInt64 { 4 }

  /// Begins with `game` at `now`: the first tick is due one tick later.
  public init(
    _ game: Game, players: Int, rate: Int = 60, at now: Instant, start: Tick = .zero
  ) {
    broadcaster = RollbackBroadcaster(game, players: players, at: start)
    broadcaster.sent = (0..<players).map { _ in InputBuffer(from: start) }
    seats = Array(repeating: Seat(), count: players)
    pace = ClockPace(rate: rate, from: now)
  }

  // MARK: Time

  /// How many ticks became due.
  public mutating func takeDueTicks(at now: Instant) -> Int { pace.advance(to: now).due }
  /// When the next tick is due.
  public var nextTick: Instant { pace.nextTick }
  /// The decided state.
  public var game: Game { broadcaster.game }
  /// The decided tick.
  public var tick: Tick { broadcaster.tick }
  /// What happened in the last step.
  public var events: [Game.Event] { broadcaster.events }

  /// How often a player's input was not there in time.
  public func missedInputs(of player: Int) -> Int { seats[player].missed }

  // MARK: Players

  /// Somebody takes a player's place; it is sent a keyframe. The number is the client's.
  public mutating func addPlayer(_ player: Int) -> Int {
    precondition(seats[player].client == nil, "the place is free")
    let number = broadcaster.addClient(player: player)
    seats[player] = Seat(client: number)
    broadcaster.sent[player] = InputBuffer(from: broadcaster.tick)
    return number
  }

  /// Somebody leaves: the player does nothing from the next tick on.
  public mutating func removePlayer(_ player: Int) {
    guard let number = seats[player].client else { return }
    broadcaster.removeClient(number)
    seats[player] = Seat()
  }

  /// Somebody begins to watch; it is sent a keyframe. The number is the client's.
  public mutating func addSpectator() -> Int { broadcaster.addClient() }

  /// Somebody who only watched stops.
  public mutating func removeSpectator(_ number: Int) {
    precondition(
      broadcaster.clients[number]?.player == nil, "remove a player with removePlayer(_:)")
    broadcaster.removeClient(number)
  }

  /// What the server itself has a player do in the next tick: the whole input of one that plays at
  /// the server; of one who joined, what happens once in it counts beside the player's own.
  public mutating func setInput(_ input: Game.Input, for player: Int) {
    seats[player].carry = seats[player].carry?.merged(with: input) ?? input
  }

  /// Makes the next tick with what is there.
  public mutating func advance() {
    for player in seats.indices {
      broadcaster.inputs[player] = decide(for: player)
      tell(player)
    }
    broadcaster.decide()
  }

  private mutating func decide(for player: Int) -> Game.Input {
    defer { seats[player].carry = nil }
    guard seats[player].client != nil else { return seats[player].carry ?? Game.Input() }
    let tick = broadcaster.tick
    if broadcaster.sent[player].end <= tick,
      broadcaster.sent[player].end > broadcaster.sent[player].start
    {
      seats[player].missed += 1
    }
    let input = broadcaster.sent[player].input(at: tick)
    return seats[player].carry?.merged(with: input) ?? input
  }

  /// Tells a player how well its inputs come.
  private mutating func tell(_ player: Int) {
    guard let number = seats[player].client, seats[player].samples > 0 else { return }
    let seat = seats[player]
    guard broadcaster.tick.rawValue % Self.timingInterval == 0 else {
      broadcaster.clients[number]?.timing = nil
      return
    }
    broadcaster.clients[number]?.timing = .init(
      lead: UInt8(min(seat.deviation * 16, 255)),
      advantage: Int16(min(max(seat.arrivalMargin * 16, -32_000), 32_000)))
  }

  // MARK: Messages

  /// Appends the next message to `writer` and says to which client.
  public mutating func pollTransmit(
    into writer: inout PacketWriter
  ) -> (client: Int, message: RollbackMessage)? { broadcaster.pollTransmit(into: &writer) }

  /// Appends the inputs that a client has not acknowledged, whether they are due or not: for the
  /// last ones, which go where nothing is lost. False where it has to begin anew instead.
  public mutating func writeInputs(for client: Int, into writer: inout PacketWriter) -> Bool {
    broadcaster.writeInputs(for: client, into: &writer)
  }

  /// Takes a message of a client. What is wrong with it throws, and nothing of it counts.
  public mutating func receive(
    _ message: RollbackMessage, _ bytes: Span<UInt8>, from number: Int, at now: Instant
  ) throws(DecodeError) {
    guard message == .inputs, broadcaster.clients.indices.contains(number),
      let player = broadcaster.clients[number]?.player
    else { return try broadcaster.receive(message, bytes, from: number) }
    var reader = PacketReader(bytes)
    let header = try InputHeader(decoding: &reader)
    let first = header.first(near: broadcaster.sent[player].end)
    let isAnew = first > broadcaster.sent[player].end
    // A player whose game began anew does so without context; anything else is of before.
    if isAnew {
      guard header.context == 0, first < broadcaster.tick.advanced(by: Self.ahead) else { return }
    }
    var bits = InputBitReader()
    if isAnew {
      try InputBuffer<Game.Input>(from: first).readRun(
        from: first, count: header.count, context: 0, coder: &broadcaster.coder, bits: &bits,
        &reader)
    } else {
      try broadcaster.sent[player].readRun(
        from: first, count: header.count, context: header.context, coder: &broadcaster.coder,
        bits: &bits, &reader)
    }
    try bits.finish()
    try reader.finish()
    try broadcaster.acknowledge(first.advanced(by: header.acknowledged), by: number)
    if isAnew { broadcaster.sent[player] = InputBuffer(from: first) }
    take(first, of: player, at: now)
  }

  private mutating func take(_ first: Tick, of player: Int, at now: Instant) {
    let before = broadcaster.sent[player].end
    broadcaster.sent[player].take(
      broadcaster.coder.run, from: first, before: broadcaster.tick.advanced(by: Self.ahead))
    let end = broadcaster.sent[player].end
    guard end > before else { return }
    var late = before
    while late < end, late < broadcaster.tick {
      let input = broadcaster.sent[player][late]
      // Of a late input counts what happens once; the place it names is no longer wanted.
      if input != input.held {
        seats[player].carry = seats[player].carry?.merged(with: input) ?? input
      }
      late = late.next
    }
    note(Double(broadcaster.tick.distance(to: end)) - pace.fraction(at: now), of: player)
  }

  private mutating func note(_ arrivalMargin: Double, of player: Int) {
    let weight = max(1 / 16, 1 / Double(seats[player].samples + 1))
    let difference = arrivalMargin - seats[player].arrivalMargin
    seats[player].arrivalMargin += difference * weight
    let spread = seats[player].samples == 0 ? 0 : difference.magnitude
    seats[player].deviation += (spread - seats[player].deviation) * weight
    seats[player].samples = min(seats[player].samples + 1, 16)
  }
}
