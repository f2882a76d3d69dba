import CaromCore

/// Writes one client's snapshots: each is foretold from the newest that the client acknowledged, so
/// that any of them may be lost.
///
/// ```swift
/// var sender = SnapshotSender(schema: schema)
/// let bytes = sender.encode(entities, at: tick)      // goes out unreliably
/// sender.acknowledge(acknowledgement)                // whenever one comes back
/// ```
public struct SnapshotSender: Sendable {
  /// Entities that a client may know at once, unless said otherwise.
  public static let defaultMemberLimit = 16_384

  /// What the entities' values mean.
  public let schema: EntitySchema
  /// Entities that the client may know at once.
  public let memberLimit: Int
  /// The tick of the newest snapshot.
  public private(set) var sentTick: Tick?
  /// The tick of the newest snapshot that the client is known to have.
  public private(set) var acknowledgedTick: Tick?

  /// Members that leave with one snapshot at most.
  var leaveLimit = Int.max

  private var history = SnapshotHistory()
  private var acknowledged: [Bool] = Array(repeating: false, count: SnapshotHistory.limit)
  private var encoder: SnapshotEncoder
  private var script = SnapshotScript()
  private var header = SnapshotHeader()
  /// What the plan is foretold from.
  private var base = SnapshotView()
  /// The base together with the views that are named beside it.
  private var merged = SnapshotView()
  private var scratch = SnapshotView()

  /// A sender for a client that knows nothing yet.
  public init(schema: EntitySchema, memberLimit: Int = defaultMemberLimit) {
    self.schema = schema
    self.memberLimit = memberLimit
    encoder = SnapshotEncoder(
      format: SnapshotFormat(schema, memberLimit: memberLimit),
      shipped: SnapshotModels.shipped(for: schema))
  }

  /// The last snapshot's bytes.
  public var bytes: [UInt8] { encoder.bytes }

  /// Counts what the models meet, where it is there.
  package var training: SnapshotTraining? {
    get { encoder.training }
    set { encoder.training = newValue }
  }

  /// Makes room for that many entities.
  mutating func reserve(_ count: Int) {
    script.reserve(count, fields: schema.fields.count)
    encoder.reserve()
  }

  // MARK: - Acknowledgements

  /// Takes what the client says it has.
  public mutating func acknowledge(_ acknowledgement: SnapshotAcknowledgement) {
    guard let newest = acknowledgement.newest else {
      // One in full that is under way already answers it.
      if acknowledgedTick != nil { reset() }
      return
    }
    acknowledge(newest)
    for index in 0..<SnapshotAcknowledgement.earlierCount
    where acknowledgement.earlier >> UInt16(index) & 1 == 1 {
      acknowledge(newest.advanced(by: -Int64(index) - 1))
    }
  }

  /// The client has the snapshot of that tick. One that was never sent, or is no longer kept,
  /// changes nothing.
  public mutating func acknowledge(_ tick: Tick) {
    guard let slot = history.slot(of: tick), !acknowledged[slot] else { return }
    acknowledged[slot] = true
    if let acknowledgedTick, tick < acknowledgedTick { return }
    acknowledgedTick = tick
    history.prune(to: history.views[slot])
  }

  /// Begins anew: the next snapshot is sent in full.
  public mutating func reset() {
    history.removeAll()
    acknowledgedTick = nil
  }

  // MARK: - Snapshots

  /// Writes the snapshot of a tick, newer than the last one's.
  @discardableResult
  public mutating func encode(_ entities: EntityTable, at tick: Tick) -> [UInt8] {
    plan(entities, at: tick, selecting: nil)
    writePlanned()
    commit()
    return bytes
  }

  /// Compares what is selected, by its place in `entities`, with what the client has. What is not
  /// selected stays as it has it. `writePlanned` makes a snapshot of it, unless another plan is
  /// made.
  mutating func plan(_ entities: EntityTable, at tick: Tick, selecting selection: [Bool]?) {
    precondition(entities.count <= memberLimit, "no more entities than a client may know")
    precondition(sentTick.map { $0 < tick } ?? true, "each snapshot is newer than the one before")
    var header = SnapshotHeader(tick: tick)
    base = makeBase(&header)
    self.header = header
    self.header.isPartial = script.compare(
      base, entities, selecting: selection, leaveLimit: leaveLimit,
      memberLimit: memberLimit)
  }

  /// Writes what was planned.
  mutating func writePlanned() {
    let slot = history.slot(of: header.tick) ?? makeSlot()
    history.views[slot].tick = header.tick
    history.views[slot].base = acknowledgedTick
    history.views[slot].isPartial = header.isPartial
    encoder.encode(header, &script, from: base, into: &history.views[slot])
    // Or the next one to be written over would be copied.
    base = SnapshotView()
  }

  /// The planned snapshot goes out.
  mutating func commit() { sentTick = header.tick }

  private mutating func makeSlot() -> Int {
    let slot = history.makeSlot(for: header.tick, keeping: acknowledgedTick)
    acknowledged[slot] = false
    return slot
  }

  /// What was written does not go out.
  mutating func withdraw() {
    if let slot = history.slot(of: header.tick) { history.free(slot) }
  }

  /// Where what the plan holds stands in its table.
  var plannedPlaces: [Int] { script.places }
  /// The ids of those whom the client does not know.
  var plannedEnters: [UInt32] { script.enters }
  /// Whether the plan tells the client nothing.
  var isPlanEmpty: Bool { script.isEmpty }
  /// Whether the plan holds something back.
  var isPlanPartial: Bool { header.isPartial }

  /// The view that the next snapshot is foretold from, and what its header says of it.
  private mutating func makeBase(_ header: inout SnapshotHeader) -> SnapshotView {
    guard let tick = acknowledgedTick, let slot = history.slot(of: tick) else {
      acknowledgedTick = nil
      return SnapshotView()
    }
    header.age = tick.distance(to: header.tick)
    let base = history.views[slot]
    guard base.isPartial else { return base }
    var isMerged = false
    for back in 0..<SnapshotHeader.namedCount(of: base) {
      let other = tick.advanced(by: -back - 1)
      guard let named = history.slot(of: other), acknowledged[named] else { continue }
      scratch.merge(isMerged ? merged : base, history.views[named], schema.stride)
      guard scratch.count <= memberLimit else { continue }
      swap(&merged, &scratch)
      header.named |= 1 << UInt64(back)
      isMerged = true
    }
    return isMerged ? merged : base
  }
}
