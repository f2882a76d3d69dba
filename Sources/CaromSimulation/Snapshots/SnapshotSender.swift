import CaromCore

/// Encodes the snapshots for one client. Each snapshot is encoded as a difference from the newest
/// one that the client has acknowledged, so any of them may be lost.
///
/// ```swift
/// var sender = SnapshotSender(schema: schema)
/// let bytes = sender.encode(entities, at: tick)      // send it unreliably
/// sender.acknowledge(acknowledgement)                // when one arrives
/// ```
public struct SnapshotSender: Sendable {
  /// The default limit on the number of entities that a client can have at a time.
  public static let defaultMemberLimit = 16_384

  /// The fields of each entity.
  public let schema: EntitySchema
  /// The maximum number of entities that the client can have at a time.
  public let memberLimit: Int
  /// The tick of the newest snapshot, or nil before the first.
  public private(set) var sentTick: Tick?
  /// The tick of the newest snapshot that the client has acknowledged, or nil if there is none.
  public private(set) var acknowledgedTick: Tick?

  /// The maximum number of entities that one snapshot may remove.
  var leaveLimit = Int.max

  private var history = SnapshotHistory()
  private var acknowledged: [Bool] = Array(repeating: false, count: SnapshotHistory.limit)
  private var encoder: SnapshotEncoder
  private var script = SnapshotScript()
  private var header = SnapshotHeader()
  /// The view on which the planned snapshot is based.
  private var base = SnapshotView()
  /// The baseline merged with the other views that the header names.
  private var merged = SnapshotView()
  private var scratch = SnapshotView()

  /// Creates a sender for a client without any snapshots.
  public init(schema: EntitySchema, memberLimit: Int = defaultMemberLimit) {
    self.schema = schema
    self.memberLimit = memberLimit
    encoder = SnapshotEncoder(
      format: SnapshotFormat(schema, memberLimit: memberLimit),
      shipped: SnapshotModels.shipped(for: schema))
  }

  /// The bytes of the last encoded snapshot.
  public var bytes: [UInt8] { encoder.bytes }

  /// Statistics for training the models, or nil if none are collected.
  package var training: SnapshotTraining? {
    get { encoder.training }
    set { encoder.training = newValue }
  }

  /// Reserves memory for `count` entities.
  mutating func reserve(_ count: Int) {
    script.reserve(count, fields: schema.fields.count)
    encoder.reserve()
  }

  // MARK: - Acknowledgements

  /// Processes an acknowledgement from the client.
  public mutating func acknowledge(_ acknowledgement: SnapshotAcknowledgement) {
    guard let newest = acknowledgement.newest else {
      // A full snapshot that is already in flight answers the request.
      if acknowledgedTick != nil { reset() }
      return
    }
    acknowledge(newest)
    for index in 0..<SnapshotAcknowledgement.earlierCount
    where acknowledgement.earlier >> UInt16(index) & 1 == 1 {
      acknowledge(newest.advanced(by: -Int64(index) - 1))
    }
  }

  /// Records that the client has the snapshot of `tick`. Ignores a tick whose snapshot was never
  /// sent or is no longer stored.
  public mutating func acknowledge(_ tick: Tick) {
    guard let slot = history.slot(of: tick), !acknowledged[slot] else { return }
    acknowledged[slot] = true
    if let acknowledgedTick, tick < acknowledgedTick { return }
    acknowledgedTick = tick
    history.prune(to: history.views[slot])
  }

  /// Discards the history, so that the next snapshot is sent in full.
  public mutating func reset() {
    history.removeAll()
    acknowledgedTick = nil
  }

  // MARK: - Snapshots

  /// Encodes and returns the snapshot of a tick, which must be newer than the tick of the last
  /// snapshot.
  @discardableResult
  public mutating func encode(_ entities: EntityTable, at tick: Tick) -> [UInt8] {
    plan(entities, at: tick, selecting: nil)
    writePlanned()
    commit()
    return bytes
  }

  /// Plans a snapshot that brings the client up to date with the selected entities; `selection` is
  /// indexed like `entities`. For entities that are not selected, the client keeps the values that
  /// it has. Call `writePlanned()` to encode the plan, or call this method again to replace it.
  mutating func plan(_ entities: EntityTable, at tick: Tick, selecting selection: [Bool]?) {
    precondition(entities.count <= memberLimit, "the table exceeds the client's member limit")
    precondition(
      sentTick.map { $0 < tick } ?? true, "each snapshot must be newer than the one before")
    var header = SnapshotHeader(tick: tick)
    base = makeBase(&header)
    self.header = header
    self.header.isPartial = script.compare(
      base, entities, selecting: selection, leaveLimit: leaveLimit,
      memberLimit: memberLimit)
  }

  /// Encodes the snapshot that `plan` prepared, and stores the resulting view in the history.
  mutating func writePlanned() {
    let slot = history.slot(of: header.tick) ?? makeSlot()
    history.views[slot].tick = header.tick
    history.views[slot].base = acknowledgedTick
    history.views[slot].isPartial = header.isPartial
    encoder.encode(header, &script, from: base, into: &history.views[slot])
    // Releases the reference, because otherwise the next write to the history would copy the view.
    base = SnapshotView()
  }

  /// Makes the encoded snapshot the newest one that was sent.
  mutating func commit() { sentTick = header.tick }

  private mutating func makeSlot() -> Int {
    let slot = history.makeSlot(for: header.tick, keeping: acknowledgedTick)
    acknowledged[slot] = false
    return slot
  }

  /// Discards the encoded snapshot instead of sending it.
  mutating func withdraw() {
    if let slot = history.slot(of: header.tick) { history.free(slot) }
  }

  /// The indexes in the table of the entities in the planned snapshot.
  var plannedPlaces: [Int] { script.places }
  /// The ids of the entities in the planned snapshot that are new to the client.
  var plannedEnters: [UInt32] { script.enters }
  /// Whether the plan contains no change.
  var isPlanEmpty: Bool { script.isEmpty }
  /// Whether the plan omits any of the changes.
  var isPlanPartial: Bool { header.isPartial }

  /// Returns the view on which the next snapshot is based, and sets the fields of `header` that
  /// identify it: the age of the baseline and the views merged into it.
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
