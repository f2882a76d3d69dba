import CaromCore

/// Records a match to a replay file while the match is played: the encoded inputs, a hash at
/// regular intervals, and occasional keyframes. `takeBytes()` returns the new bytes for the file.
/// The length of the match is unlimited.
public struct ReplayWriter<Game: Simulation & PacketCodable>: Sendable {
  /// The next tick to record.
  public private(set) var tick: Tick
  /// The total number of bytes produced.
  public private(set) var byteCount = 0
  /// The number of produced bytes that belong to keyframes.
  public private(set) var keyframeBytes = 0

  private let players: Int
  private let start: Tick
  private let interval: Int64
  private let blockTicks: Int
  private var writer = PacketWriter(capacity: 4_096)
  private var body = PacketWriter(capacity: 1_024)
  private var coders: [InputCoder<Game.Input>]
  /// The inputs of the block that is being recorded, ordered by tick and then by player.
  private var waiting: [Game.Input] = []
  private var hash: UInt64

  /// Creates a recording that starts with `game` before `tick`, with a keyframe every
  /// `keyframeInterval` ticks and a hash every `hashInterval` ticks.
  public init(
    _ game: Game, players: Int, rate: Int = 60, title: String, at tick: Tick = .zero,
    keyframeInterval: Int = 600, hashInterval: Int = 60
  ) {
    precondition(
      (1...ReplayBlock.ticks).contains(hashInterval), "the hash interval must be 1 to 120 ticks")
    precondition(
      keyframeInterval >= hashInterval,
      "the keyframe interval must not be shorter than the hash interval")
    self.players = players
    self.tick = tick
    start = tick
    interval = Int64(keyframeInterval)
    blockTicks = hashInterval
    coders = (0..<players).map { _ in InputCoder() }
    hash = game.hash
    ReplayHeader(
      players: players, fields: Game.Input.fieldCount, rate: rate, start: tick, title: title
    ).encode(into: &writer)
    byteCount = writer.count
    writeKeyframe(game)
  }

  /// Records a tick: the input that `input` returns for each player number, and the state after the
  /// step.
  public mutating func append(_ input: (Int) -> Game.Input, leadingTo game: borrowing Game) {
    for player in 0..<players { waiting.append(input(player)) }
    tick = tick.next
    let isKeyframe = start.distance(to: tick) % interval == 0
    guard isKeyframe || waiting.count == blockTicks * players else { return }
    hash = game.hash
    writeInputs()
    if isKeyframe { writeKeyframe(game) }
  }

  /// Records every tick that `rollback` has confirmed since the previous call. Call this method at
  /// least once a second, before `rollback` discards the inputs.
  public mutating func record(_ rollback: Rollback<Game>) {
    while tick < rollback.confirmedTick, let game = rollback.state(at: tick.next) {
      let at = tick
      append({ rollback.knownInput(for: $0, at: at) ?? Game.Input() }, leadingTo: game)
    }
  }

  /// Records every tick that `broadcaster`, such as a server's, has confirmed since the previous
  /// call. Call this method at least once a second, before `broadcaster` discards the states.
  public mutating func record(_ broadcaster: RollbackBroadcaster<Game>) {
    while tick < broadcaster.tick, let game = broadcaster.history.state(at: tick.next) {
      let at = tick
      append({ broadcaster.input(for: $0, at: at) ?? Game.Input() }, leadingTo: game)
    }
  }

  /// Ends the recording with `game`, its last state. Nothing can be recorded afterwards.
  public mutating func finish(_ game: borrowing Game) {
    hash = game.hash
    if !waiting.isEmpty { writeInputs() }
    body.removeAll()
    body.writeVarInt(UInt64(start.distance(to: tick)))
    body.write(hash)
    flush(.end)
  }

  /// Returns the bytes produced since the previous call. Append them to the file.
  public mutating func takeBytes() -> [UInt8] {
    defer { writer.removeAll() }
    return writer.bytes
  }

  private mutating func writeKeyframe(_ game: borrowing Game) {
    body.removeAll()
    body.write(game.hash)
    game.encode(into: &body)
    keyframeBytes += body.count
    flush(.keyframe)
    for player in 0..<players { coders[player].reset() }
  }

  private mutating func writeInputs() {
    body.removeAll()
    let count = waiting.count / players
    body.append(UInt8(count))
    var bits = BitWriter()
    for player in 0..<players {
      coders[player].encode(count, into: &body, bits: &bits) { waiting[$0 * players + player] }
    }
    bits.finish(&body)
    body.write(UInt32(truncatingIfNeeded: hash))
    waiting.removeAll(keepingCapacity: true)
    flush(.inputs)
  }

  private mutating func flush(_ kind: ReplayBlock) {
    precondition(body.count <= ReplayBlock.limit, "a keyframe must not exceed 16 MiB")
    let before = writer.count
    kind.begin(body.count, into: &writer)
    writer.write(body.bytes)
    byteCount += writer.count - before
  }
}
