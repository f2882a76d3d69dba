import CaromCore

/// Plays a replay file from the beginning, or from any tick by seeking to the keyframe before it.
/// Every hash in the file is compared with the hash of the simulated state when playback passes its
/// tick.
///
/// The structure of the whole file is validated when the file is opened. Its inputs and states are
/// validated as they are read, and no content can cause a trap.
public struct ReplayReader<Game: Simulation & PacketCodable>: Sendable {
  private struct Block: Sendable {
    var kind: ReplayBlock
    /// The offset in the file of the first byte of the block's body.
    var start: Int
    var end: Int
    /// The tick at which the block begins.
    var tick: Tick
  }

  /// The maximum number of ticks in a replay: a day at 1,000 ticks per second.
  public static var tickLimit: UInt64 { 86_400_000 }

  /// The header of the file.
  public let header: ReplayHeader
  /// The tick after the last tick with inputs.
  public let end: Tick
  /// The state before `tick`.
  public private(set) var game: Game
  /// The tick that the next step plays.
  public private(set) var tick: Tick
  /// The events of the last step.
  public private(set) var events: [Game.Event] = []
  /// Whether the file has an end block. A recording that was interrupted has none.
  public var isComplete: Bool { endHash != nil }
  /// The number of hashes in the file that playback has compared with the hash of the simulated
  /// state so far.
  public private(set) var comparedHashes = 0

  private let bytes: [UInt8]
  private let blocks: [Block]
  /// The index of the next block to read.
  private var nextBlock = 0
  private var coders: [InputCoder<Game.Input>]
  /// The inputs of the current block, indexed by player and then by tick.
  private var runs: [[Game.Input]]
  /// The first tick of the current block of inputs.
  private var runStart: Tick
  private var runLength = 0
  private var runHash: UInt32 = 0
  private var stepInputs: [Game.Input]
  private let endHash: UInt64?

  /// Creates a reader at the beginning of a replay file. Throws if the header or the structure of
  /// the blocks is invalid.
  public init(_ bytes: [UInt8]) throws(DecodeError) {
    var reader = PacketReader(bytes.span)
    let header = try ReplayHeader(decoding: &reader)
    guard Game.playerCounts.contains(header.players) else { throw .invalid(what: "players") }
    guard header.fields == Game.Input.fieldCount else { throw .invalid(what: "input fields") }
    let index = try Self.index(&reader, header)
    guard index.blocks.first?.kind == .keyframe else { throw .invalid(what: "first keyframe") }
    self.header = header
    self.bytes = bytes
    blocks = index.blocks
    end = index.end
    endHash = index.hash
    coders = (0..<header.players).map { _ in InputCoder() }
    runs = Array(repeating: [], count: header.players)
    stepInputs = Array(repeating: Game.Input(), count: header.players)
    tick = header.start
    runStart = header.start
    game = try Self.keyframe(bytes, blocks[0].start, blocks[0].end)
    nextBlock = 1
  }

  /// Plays the next tick. Returns false if the replay has no further tick. Throws if the resulting
  /// hash differs from the hash in the file.
  public mutating func step() throws(DecodeError) -> Bool {
    guard tick < end else { return false }
    if runStart.distance(to: tick) >= Int64(runLength) { try readRuns() }
    let place = Int(runStart.distance(to: tick))
    for player in runs.indices { stepInputs[player] = runs[player][place] }
    events.removeAll(keepingCapacity: true)
    Rollback.step(&game, stepInputs, 0..<stepInputs.count, &events)
    tick = tick.next
    if place + 1 == runLength {
      comparedHashes += 1
      guard UInt32(truncatingIfNeeded: game.hash) == runHash else { throw .invalid(what: "hash") }
    }
    if tick == end, let endHash, game.hash != endHash { throw .invalid(what: "last hash") }
    return true
  }

  /// Seeks to `wanted`, or to `end` if that is earlier. Plays on from the current tick or from the
  /// last keyframe that is not after the wanted tick, whichever is nearer.
  public mutating func seek(to wanted: Tick) throws(DecodeError) {
    let target = min(max(wanted, header.start), end)
    var best = 0
    for (place, block) in blocks.enumerated() where block.kind == .keyframe {
      if block.tick <= target { best = place }
    }
    if tick > target || blocks[best].tick > tick { try begin(at: best) }
    while tick < target { guard try step() else { return } }
  }

  /// The inputs of the step that was played last, indexed by player.
  public var lastInputs: [Game.Input] { stepInputs }

  private mutating func begin(at place: Int) throws(DecodeError) {
    game = try Self.keyframe(bytes, blocks[place].start, blocks[place].end)
    tick = blocks[place].tick
    nextBlock = place + 1
    runStart = tick
    runLength = 0
    events.removeAll(keepingCapacity: true)
    for player in coders.indices { coders[player].reset() }
  }

  /// Reads the next block of inputs. If a keyframe precedes the block, its hash must equal that of
  /// the current state.
  private mutating func readRuns() throws(DecodeError) {
    while blocks[nextBlock].kind == .keyframe {
      let there: Game = try Self.keyframe(bytes, blocks[nextBlock].start, blocks[nextBlock].end)
      guard there.hash == game.hash else { throw .invalid(what: "keyframe's hash") }
      for player in coders.indices { coders[player].reset() }
      nextBlock += 1
    }
    let block = blocks[nextBlock]
    let bytes = bytes
    var reader = PacketReader(bytes.span.extracting(block.start..<block.end))
    let count = Int(try reader.read(UInt8.self))
    var bits = BitReader()
    for player in coders.indices {
      try coders[player].decode(count, from: &reader, bits: &bits)
      swap(&runs[player], &coders[player].run)
    }
    try bits.finish()
    runHash = try reader.read()
    try reader.finish()
    runStart = block.tick
    runLength = count
    nextBlock += 1
  }

  private static func keyframe(_ bytes: [UInt8], _ start: Int, _ end: Int) throws(DecodeError)
    -> Game
  {
    var reader = PacketReader(bytes.span.extracting(start..<end))
    let hash: UInt64 = try reader.read()
    let game = try Game(decoding: &reader)
    try reader.finish()
    guard game.hash == hash else { throw .invalid(what: "keyframe's hash") }
    return game
  }

  /// Reads the kind of the next block and the length of its body. Returns nil if the file was cut
  /// off within the block, for example because the disk was full; all earlier blocks can be played.
  /// If `isFirst` is true, throws an error instead of returning nil.
  private static func begin(
    _ reader: inout PacketReader, isFirst: Bool
  ) throws(DecodeError) -> (kind: ReplayBlock, length: Int)? {
    do throws(DecodeError) {
      return try ReplayBlock.begin(&reader)
    } catch {
      guard case .truncated = error, !isFirst else { throw error }
      return nil
    }
  }

  /// Returns the offset and tick of every block, the tick after the last block, and the hash in the
  /// end block. The hash is nil if the file has no end block.
  private static func index(
    _ reader: inout PacketReader, _ header: ReplayHeader
  ) throws(DecodeError) -> (blocks: [Block], end: Tick, hash: UInt64?) {
    var blocks: [Block] = []
    var ticks: UInt64 = 0
    while reader.remaining > 0 {
      let tick = Tick(header.start.rawValue + ticks)
      guard let (kind, length) = try begin(&reader, isFirst: blocks.isEmpty) else {
        return (blocks, tick, nil)
      }
      let start = reader.offset
      switch kind {
      case .keyframe:
        guard blocks.last?.kind != .keyframe else { throw .invalid(what: "keyframe") }
        _ = try reader.readSpan(length)
      case .inputs:
        let body = try reader.readSpan(length)
        guard let count = body.isEmpty ? nil : body[0], (1...ReplayBlock.ticks).contains(Int(count))
        else { throw .invalid(what: "ticks in a block") }
        ticks += UInt64(count)
        guard ticks <= tickLimit else { throw .tooLarge(length: ticks, limit: tickLimit) }
      case .end:
        guard try reader.readVarInt() == ticks else { throw .invalid(what: "count of ticks") }
        let hash: UInt64 = try reader.read()
        guard reader.offset == start + length else { throw .invalid(what: "end's length") }
        try reader.finish()
        return (blocks, tick, hash)
      }
      blocks.append(Block(kind: kind, start: start, end: reader.offset, tick: tick))
    }
    return (blocks, Tick(header.start.rawValue + ticks), nil)
  }
}
