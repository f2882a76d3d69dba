import CaromCore

/// The server of a game in step: it collects the players' inputs, decides each tick on time, and
/// tells everybody. Nobody's silence stops the game: whose input is not there holds the last one,
/// and what happens once in a late input happens in the next tick instead, never twice.
///
/// A polled machine: `receive`, `advance` for each tick that `ticksDue` counts, `pollTransmit`.
public struct RollbackServer<Game: Simulation & PacketCodable>: Sendable {
  /// What is known of a player's seat.
  struct Seat: Sendable {
    var watcher: Int?
    /// What happens once in inputs that came too late, and what the server itself gave.
    var carry: Game.Input?
    /// By how many ticks inputs come before their tick is made: mean, and mean deviation.
    var margin = 0.0
    var deviation = 0.0
    var samples = 0
    /// How often an input was not there in time.
    var missed = 0
  }

  /// The decided game and whoever watches it.
  public internal(set) var feed: RollbackFeed<Game>
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
    feed = RollbackFeed(game, players: players, at: start)
    feed.sent = (0..<players).map { _ in InputBuffer(from: start) }
    seats = Array(repeating: Seat(), count: players)
    pace = ClockPace(rate: rate, from: now)
  }

  // MARK: Time

  /// How many ticks became due.
  public mutating func ticksDue(at now: Instant) -> Int { pace.advance(to: now).due }
  /// When the next tick is due.
  public var nextTick: Instant { pace.nextTick }
  /// The decided state.
  public var game: Game { feed.game }
  /// The decided tick.
  public var tick: Tick { feed.tick }
  /// What happened in the last step.
  public var events: [Game.Event] { feed.events }

  /// How often a player's input was not there in time.
  public func missedInputs(of player: Int) -> Int { seats[player].missed }

  // MARK: Players

  /// Somebody takes a player's place; it is sent a keyframe. The number is the watcher's.
  public mutating func join(_ player: Int) -> Int {
    precondition(seats[player].watcher == nil, "the place is free")
    let number = feed.addWatcher(player: player)
    seats[player] = Seat(watcher: number)
    feed.sent[player] = InputBuffer(from: feed.tick)
    return number
  }

  /// Somebody leaves: the player does nothing from the next tick on.
  public mutating func leave(_ player: Int) {
    guard let number = seats[player].watcher else { return }
    feed.removeWatcher(number)
    seats[player] = Seat()
  }

  /// Somebody begins to watch; it is sent a keyframe. The number is the watcher's.
  public mutating func watch() -> Int { feed.addWatcher() }

  /// Somebody who only watched stops.
  public mutating func stopWatching(_ number: Int) {
    precondition(feed.watchers[number]?.player == nil, "players leave with leave(_:)")
    feed.removeWatcher(number)
  }

  /// What the server itself has a player do in the next tick: the whole input of one that plays at
  /// the server; of one who joined, what happens once in it counts beside the player's own.
  public mutating func give(_ input: Game.Input, of player: Int) {
    seats[player].carry = seats[player].carry?.merged(with: input) ?? input
  }

  /// Makes the next tick with what is there.
  public mutating func advance() {
    for player in seats.indices {
      feed.inputs[player] = decide(for: player)
      tell(player)
    }
    feed.decide()
  }

  private mutating func decide(for player: Int) -> Game.Input {
    defer { seats[player].carry = nil }
    guard seats[player].watcher != nil else { return seats[player].carry ?? Game.Input() }
    let tick = feed.tick
    if feed.sent[player].end <= tick, feed.sent[player].end > feed.sent[player].start {
      seats[player].missed += 1
    }
    let input = feed.sent[player].input(at: tick)
    return seats[player].carry?.merged(with: input) ?? input
  }

  /// Tells a player how well its inputs come.
  private mutating func tell(_ player: Int) {
    guard let number = seats[player].watcher, seats[player].samples > 0 else { return }
    let seat = seats[player]
    guard feed.tick.rawValue % Self.timingInterval == 0 else {
      feed.watchers[number]?.timing = nil
      return
    }
    feed.watchers[number]?.timing = .init(
      lead: UInt8(min(seat.deviation * 16, 255)),
      advantage: Int16(min(max(seat.margin * 16, -32_000), 32_000)))
  }

  // MARK: Messages

  /// Appends the next message to `writer` and says to which watcher.
  public mutating func pollTransmit(
    into writer: inout PacketWriter
  ) -> (watcher: Int, message: RollbackMessage)? { feed.pollTransmit(into: &writer) }

  /// Appends the inputs that a watcher has not acknowledged, whether they are due or not: for the
  /// last ones, which go where nothing is lost. False where it has to begin anew instead.
  public mutating func writeInputs(for watcher: Int, into writer: inout PacketWriter) -> Bool {
    feed.writeInputs(for: watcher, into: &writer)
  }

  /// Takes a message of a watcher. What is wrong with it throws, and nothing of it counts.
  public mutating func receive(
    _ message: RollbackMessage, _ bytes: Span<UInt8>, from number: Int, at now: Instant
  ) throws(DecodeError) {
    guard message == .inputs, feed.watchers.indices.contains(number),
      let player = feed.watchers[number]?.player
    else { return try feed.receive(message, bytes, from: number) }
    var reader = PacketReader(bytes)
    let header = try InputHeader(decoding: &reader)
    let first = header.first(near: feed.sent[player].end)
    let isAnew = first > feed.sent[player].end
    // A player whose game began anew does so without context; anything else is of before.
    if isAnew {
      guard header.context == 0, first < feed.tick.advanced(by: Self.ahead) else { return }
    }
    var bits = InputBitReader()
    if isAnew {
      try InputBuffer<Game.Input>(from: first).readRun(
        from: first, count: header.count, context: 0, coder: &feed.coder, bits: &bits, &reader)
    } else {
      try feed.sent[player].readRun(
        from: first, count: header.count, context: header.context, coder: &feed.coder,
        bits: &bits, &reader)
    }
    try bits.finish()
    try reader.finish()
    try feed.acknowledge(first.advanced(by: header.acknowledged), by: number)
    if isAnew { feed.sent[player] = InputBuffer(from: first) }
    take(first, of: player, at: now)
  }

  private mutating func take(_ first: Tick, of player: Int, at now: Instant) {
    let before = feed.sent[player].end
    feed.sent[player].take(
      feed.coder.run, from: first, before: feed.tick.advanced(by: Self.ahead))
    let end = feed.sent[player].end
    guard end > before else { return }
    var late = before
    while late < end, late < feed.tick {
      let input = feed.sent[player][late]
      // Of a late input counts what happens once; the place it names is no longer wanted.
      if input != input.held {
        seats[player].carry = seats[player].carry?.merged(with: input) ?? input
      }
      late = late.next
    }
    note(Double(feed.tick.distance(to: end)) - pace.fraction(at: now), of: player)
  }

  private mutating func note(_ margin: Double, of player: Int) {
    let weight = max(1 / 16, 1 / Double(seats[player].samples + 1))
    let difference = margin - seats[player].margin
    seats[player].margin += difference * weight
    let spread = seats[player].samples == 0 ? 0 : difference.magnitude
    seats[player].deviation += (spread - seats[player].deviation) * weight
    seats[player].samples = min(seats[player].samples + 1, 16)
  }
}
