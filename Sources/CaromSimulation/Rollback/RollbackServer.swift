import CaromCore

/// The server of a rollback match. It collects the players' inputs, confirms each tick on schedule,
/// and broadcasts the result. A slow player never delays the others: a missing input is replaced by
/// the `held` form of the player's last input. The one-time actions of a late input apply in the
/// next tick, and never twice.
///
/// The server is a polled state machine: call `receive` for each message, `advance()` for each tick
/// that `takeDueTicks(at:)` returns, and `pollTransmit(into:)` until it returns nil.
public struct RollbackServer<Game: Simulation & PacketCodable>: Sendable {
  /// The state that the server keeps for each player.
  struct Seat: Sendable {
    var client: Int?
    /// The input to merge into the next tick: one-time actions of late inputs, and the input set by
    /// the server itself.
    var carriedInput: Game.Input?
    /// How early the player's inputs arrive on average, in ticks.
    var arrivalMargin = 0.0
    /// The mean absolute deviation of the inputs' arrival margins from `arrivalMargin`, in ticks.
    var deviation = 0.0
    var samples = 0
    /// The number of ticks that were confirmed before the player's input for them arrived.
    var missed = 0
    var meter = LateInputMeter()
  }

  /// The confirmed match and its clients.
  public internal(set) var broadcaster: RollbackBroadcaster<Game>
  /// Restricts what clients may do: called with each client's player and input before the input is
  /// confirmed, it returns the input that counts. Nil, the default, accepts every input as it is.
  ///
  /// For example, it can remove a request that only the server may make. It must leave an input
  /// that it has returned as it is. The inputs that the server itself sets do not pass through it.
  public var inputFilter: (@Sendable (_ player: Int, _ input: Game.Input) -> Game.Input)?
  var seats: [Seat]
  private var pace: ClockPace
  /// The number of ticks ahead of the confirmed tick for which received inputs are stored: two
  /// seconds at 60 Hz.
  static var ahead: Int64 { 120 }

  /// The number of ticks between two timing reports to a player.
  static var timingInterval: UInt64 { 4 }

  /// Creates a server that starts a match with `game` at `now`. The first tick has the number
  /// `start` and is due one tick later; `rate` is the number of ticks per second.
  public init(
    _ game: Game, players: Int, rate: Int = 60, at now: Instant, start: Tick = .zero
  ) {
    broadcaster = RollbackBroadcaster(game, players: players, at: start)
    broadcaster.sentInputs = (0..<players).map { _ in InputBuffer(from: start) }
    seats = Array(repeating: Seat(), count: players)
    pace = ClockPace(rate: rate, from: now)
  }

  // MARK: Time

  /// Returns the number of ticks that have become due since the previous call. Call `advance()`
  /// once for each.
  public mutating func takeDueTicks(at now: Instant) -> Int { pace.advance(to: now).due }
  /// The time at which the next tick is due.
  public var nextTick: Instant { pace.nextTick }
  /// The confirmed state.
  public var state: Game { broadcaster.state }
  /// The next tick to confirm.
  public var tick: Tick { broadcaster.tick }
  /// The events of the last step.
  public var events: [Game.Event] { broadcaster.events }

  /// Returns the number of ticks for which a player's input did not arrive in time, since the
  /// player's present client has joined. It is 0 after the client has left.
  public func missedInputs(of player: Int) -> Int {
    checkPlayer(player)
    return seats[player].missed
  }

  /// Returns whether at least half of a player's inputs in the last second did not arrive in time.
  public func areInputsLate(of player: Int) -> Bool {
    checkPlayer(player)
    return seats[player].meter.isLate
  }

  private func checkPlayer(_ player: Int) {
    precondition(
      seats.indices.contains(player), "a match's players are numbered 0 to playerCount - 1")
  }

  /// The number of players.
  public var playerCount: Int { seats.count }
  /// The number of ticks per second.
  public var rate: Int { pace.rate }

  // MARK: Players

  /// Adds a remote client that controls `player`, and sends it a keyframe. Returns the client's
  /// number.
  public mutating func addPlayer(_ player: Int) -> Int {
    precondition(
      seats[player].client == nil, "this player already has a client; call removePlayer(_:) first")
    let number = broadcaster.addClient(player: player)
    seats[player] = Seat(client: number)
    broadcaster.sentInputs[player] = InputBuffer(from: broadcaster.tick)
    return number
  }

  /// Removes a player's client. The player's input is neutral from the next tick on.
  public mutating func removePlayer(_ player: Int) {
    guard let number = seats[player].client else { return }
    broadcaster.removeClient(number)
    seats[player] = Seat()
  }

  /// Adds a spectator, sends it a keyframe, and returns its client number.
  public mutating func addSpectator() -> Int { broadcaster.addClient() }

  /// Removes the spectator with this client number.
  public mutating func removeSpectator(_ number: Int) {
    precondition(
      broadcaster.clients[number]?.player == nil,
      "this client is a player; call removePlayer(_:) instead")
    broadcaster.removeClient(number)
  }

  /// Sets an input that the server itself gives to a player for the next tick. It is the whole
  /// input of a player without a client; for a player with a client, its one-time actions are
  /// merged into the client's input. The inputs of several calls before one tick are merged.
  public mutating func setInput(_ input: Game.Input, for player: Int) {
    checkPlayer(player)
    seats[player].carriedInput = seats[player].carriedInput?.merged(with: input) ?? input
  }

  /// Confirms and simulates the next tick with the inputs received so far.
  public mutating func advance() {
    for player in seats.indices {
      broadcaster.inputs[player] = nextInput(for: player)
      updateTiming(of: player)
    }
    broadcaster.confirmTick()
  }

  private mutating func nextInput(for player: Int) -> Game.Input {
    defer { seats[player].carriedInput = nil }
    guard seats[player].client != nil else { return seats[player].carriedInput ?? Game.Input() }
    let tick = broadcaster.tick
    let isMissing =
      broadcaster.sentInputs[player].end <= tick
      && broadcaster.sentInputs[player].end > broadcaster.sentInputs[player].start
    if isMissing { seats[player].missed += 1 }
    seats[player].meter.recordTick(lateInputs: isMissing ? 1 : 0, rate: pace.rate)
    let input = filtered(broadcaster.sentInputs[player].input(at: tick), of: player)
    return seats[player].carriedInput?.merged(with: input) ?? input
  }

  private func filtered(_ input: Game.Input, of player: Int) -> Game.Input {
    inputFilter?(player, input) ?? input
  }

  /// Updates the timing report for a player's client.
  private mutating func updateTiming(of player: Int) {
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

  /// Appends the next message to `writer`, and returns its kind and the number of the receiving
  /// client. Returns nil if nothing is due before the next tick.
  public mutating func pollTransmit(
    into writer: inout PacketWriter
  ) -> (client: Int, message: RollbackMessage)? { broadcaster.pollTransmit(into: &writer) }

  /// Appends to `writer` the inputs that a client has not acknowledged, even if they are not due.
  /// Use this method to send the end of a match on a reliable channel. Returns false if there is no
  /// such client, or if it must receive a keyframe or a state report first.
  public mutating func writeInputs(for client: Int, into writer: inout PacketWriter) -> Bool {
    broadcaster.writeInputs(for: client, into: &writer)
  }

  /// Processes a message from a client. Throws an error, and changes nothing, if the message is
  /// invalid.
  public mutating func receive(
    _ message: RollbackMessage, _ bytes: Span<UInt8>, from number: Int, at now: Instant
  ) throws(DecodeError) {
    guard message == .inputs, broadcaster.clients.indices.contains(number),
      let player = broadcaster.clients[number]?.player
    else { return try broadcaster.receive(message, bytes, from: number) }
    var reader = PacketReader(bytes)
    let header = try InputHeader(decoding: &reader)
    let first = header.first(near: broadcaster.sentInputs[player].end)
    let isRestart = first > broadcaster.sentInputs[player].end
    // Only a client that restarted from a keyframe sends a run after a gap, and without context.
    // Any other such run is outdated.
    if isRestart {
      guard header.context == 0, first < broadcaster.tick.advanced(by: Self.ahead) else { return }
    }
    var bits = BitReader()
    if isRestart {
      try InputBuffer<Game.Input>(from: first).readRun(
        from: first, count: header.count, context: 0, coder: &broadcaster.coder, bits: &bits,
        &reader)
    } else {
      try broadcaster.sentInputs[player].readRun(
        from: first, count: header.count, context: header.context, coder: &broadcaster.coder,
        bits: &bits, &reader)
    }
    try bits.finish()
    try reader.finish()
    try broadcaster.acknowledge(first.advanced(by: header.acknowledged), by: number)
    if isRestart { broadcaster.sentInputs[player] = InputBuffer(from: first) }
    addInputs(from: first, for: player, at: now)
  }

  private mutating func addInputs(from first: Tick, for player: Int, at now: Instant) {
    let before = broadcaster.sentInputs[player].end
    broadcaster.sentInputs[player].merge(
      broadcaster.coder.run, from: first, before: broadcaster.tick.advanced(by: Self.ahead))
    let end = broadcaster.sentInputs[player].end
    guard end > before else { return }
    var late = before
    while late < end, late < broadcaster.tick {
      let input = filtered(broadcaster.sentInputs[player][late], of: player)
      // Only the one-time actions of a late input still count; its held part is out of date.
      if input != input.held {
        seats[player].carriedInput = seats[player].carriedInput?.merged(with: input) ?? input
      }
      late = late.next
    }
    recordArrival(Double(broadcaster.tick.distance(to: end)) - pace.fraction(at: now), of: player)
  }

  private mutating func recordArrival(_ arrivalMargin: Double, of player: Int) {
    let weight = max(1 / 16, 1 / Double(seats[player].samples + 1))
    let difference = arrivalMargin - seats[player].arrivalMargin
    seats[player].arrivalMargin += difference * weight
    let spread = seats[player].samples == 0 ? 0 : difference.magnitude
    seats[player].deviation += (spread - seats[player].deviation) * weight
    seats[player].samples = min(seats[player].samples + 1, 16)
  }
}
