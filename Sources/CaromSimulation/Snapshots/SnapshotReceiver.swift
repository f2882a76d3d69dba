import CaromCore

/// Decodes the snapshots of one server, which may arrive in any order.
///
/// ```swift
/// var receiver = SnapshotReceiver(schema: schema)
/// try receiver.receive(bytes)                        // the payload of a datagram
/// for index in 0..<receiver.entities.count { … }
/// receiver.acknowledgement.encode(into: &writer)     // in the next packet
/// ```
public struct SnapshotReceiver: Sendable {
  /// The fields of each entity.
  public let schema: EntitySchema
  /// The tick of the newest snapshot, or nil before the first.
  public private(set) var tick: Tick?
  /// The entities of the newest snapshot.
  public private(set) var entities: EntityTable
  /// For each entity in `entities`, the tick of its values: the newest snapshot's tick, or an
  /// earlier one if no newer values were sent.
  public private(set) var entityTicks: [Tick] = []

  /// The number of ticks for which an entity stays visible while partial snapshots omit it.
  private static let grace: Int64 = 64

  private var history = SnapshotHistory()
  private var decoder: SnapshotDecoder
  private var merged = SnapshotView()
  private var scratch = SnapshotView()
  private var lostBase = false
  /// The tick of the oldest view on which later snapshots can be based, or nil if no view has been
  /// pruned.
  private var oldest: Tick?
  private var next: EntityTable
  private var nextTicks: [Tick] = []

  /// Creates a receiver without any snapshots. A snapshot with more than `memberLimit` entities is
  /// rejected.
  public init(
    schema: EntitySchema, memberLimit: Int = SnapshotSender.defaultMemberLimit
  ) {
    self.schema = schema
    entities = EntityTable(schema: schema)
    next = entities
    decoder = SnapshotDecoder(
      format: SnapshotFormat(schema, memberLimit: memberLimit),
      shipped: SnapshotModels.shipped(for: schema))
  }

  /// The acknowledgement to send to the server.
  public var acknowledgement: SnapshotAcknowledgement {
    guard let tick, !lostBase else { return SnapshotAcknowledgement(newest: nil) }
    var earlier: UInt16 = 0
    for index in 0..<SnapshotAcknowledgement.earlierCount {
      let other = tick.advanced(by: -Int64(index) - 1)
      if history.slot(of: other) != nil { earlier |= 1 << UInt16(index) }
    }
    return SnapshotAcknowledgement(newest: tick, earlier: earlier)
  }

  /// Processes a snapshot; `bytes` must be exactly one snapshot. Returns false if a newer snapshot
  /// has already been received: `entities` then stays the same, but the snapshot is acknowledged.
  @discardableResult
  public mutating func receive(_ bytes: Span<UInt8>) throws(SnapshotError) -> Bool {
    let base = try read(bytes)
    return keep(decoder.header, base)
  }

  /// Decodes a snapshot and encodes it again, for tests of the canonical form.
  mutating func rewrite(_ bytes: Span<UInt8>) throws(SnapshotError) -> [UInt8] {
    let base = try read(bytes)
    decoder.rewrite(base, scratch)
    return decoder.rewritten
  }

  /// Decodes a snapshot into `scratch`, and returns the view on which the snapshot is based.
  private mutating func read(_ bytes: Span<UInt8>) throws(SnapshotError) -> SnapshotView {
    let (baseTick, isRead) = decoder.start(bytes, newest: tick)
    guard isRead else { throw Self.malformed }
    var base = SnapshotView()
    if let baseTick {
      base = try view(of: baseTick)
      guard decoder.readHeader(base) else { throw Self.malformed }
      base = try merge(base, decoder.header)
    }
    let header = decoder.header
    guard history.slot(of: header.tick) == nil else { throw .stale(header.tick) }
    scratch.tick = header.tick
    scratch.base = baseTick
    scratch.isPartial = header.isPartial
    guard decoder.finish(base, into: &scratch) else { throw Self.malformed }
    return base
  }

  private static let malformed = SnapshotError.malformed(.invalid(what: "snapshot"))

  private mutating func view(of wanted: Tick) throws(SnapshotError) -> SnapshotView {
    if let slot = history.slot(of: wanted) { return history.views[slot] }
    // The baseline was already released, so the packet is late and no snapshot is missing.
    if let oldest, wanted < oldest { throw .stale(wanted) }
    lostBase = true
    throw .missingBase(wanted)
  }

  private mutating func merge(
    _ base: SnapshotView, _ header: SnapshotHeader
  ) throws(SnapshotError) -> SnapshotView {
    guard header.named != 0 else { return base }
    var isMerged = false
    for back in 0..<SnapshotHeader.namedLimit where header.named >> UInt64(back) & 1 == 1 {
      let named = try view(of: base.tick.advanced(by: -back - 1))
      scratch.merge(isMerged ? merged : base, named, schema.stride)
      guard scratch.count <= decoder.format.memberLimit else { throw Self.malformed }
      swap(&merged, &scratch)
      isMerged = true
    }
    return merged
  }

  /// Stores the decoded view. If the view is the newest, updates `entities` and returns true.
  private mutating func keep(_ header: SnapshotHeader, _ base: SnapshotView) -> Bool {
    let isNewest = tick.map { $0 < header.tick } ?? true
    if header.age == 0, isNewest, lostBase {
      lostBase = false
      entities.removeAll()
      entityTicks.removeAll(keepingCapacity: true)
    }
    let slot = history.makeSlot(
      for: header.tick, keeping: header.age == 0 ? nil : header.baseTick)
    swap(&history.views[slot], &scratch)
    guard isNewest else { return false }
    if header.age > 0, let base = history.slot(of: header.baseTick) {
      history.prune(to: history.views[base])
      oldest = header.baseTick
    }
    tick = header.tick
    show(history.views[slot], base)
    return true
  }

  /// Sets `entities` to the contents of the newest snapshot. If that snapshot is partial, newer
  /// values from other snapshots are retained.
  private mutating func show(_ view: SnapshotView, _ base: SnapshotView) {
    next.removeAll()
    nextTicks.removeAll(keepingCapacity: true)
    var place = 0
    for index in 0..<view.count {
      let id = view.id(index, schema.stride)
      while place < entities.count, entities.ids[place] < id {
        keepShown(place, view, base)
        place += 1
      }
      let start = index * schema.stride
      let tick = Tick(UInt64(bitPattern: view.words[start + EntityRecord.tickWord]))
      let isShown = place < entities.count && entities.ids[place] == id
      if isShown, view.isPartial, entityTicks[place] > tick {
        show(place)
      } else {
        next.append(id, from: view.words.span, at: start + EntityRecord.valueWord)
        nextTicks.append(tick)
      }
      if isShown { place += 1 }
    }
    while place < entities.count {
      keepShown(place, view, base)
      place += 1
    }
    swap(&entities, &next)
    swap(&entityTicks, &nextTicks)
  }

  /// Keeps an entity that a partial `view` does not contain but that a recent snapshot contained.
  /// The entity may have entered after the view's baseline, or shortly before the baseline in a
  /// snapshot whose acknowledgement the sender has not received. In the latter case the sender will
  /// send it again.
  private mutating func keepShown(_ place: Int, _ view: SnapshotView, _ base: SnapshotView) {
    guard view.isPartial, next.count < decoder.format.memberLimit else { return }
    if let base = view.base, entityTicks[place].distance(to: base) >= Self.grace { return }
    guard !base.holds(entities.ids[place], schema.stride) else { return }  // The entity left.
    show(place)
  }

  private mutating func show(_ place: Int) {
    let shown = entities.values
    next.append(entities.ids[place], from: shown.span, at: place * schema.fields.count)
    nextTicks.append(entityTicks[place])
  }
}

/// The reason why a snapshot was rejected.
public enum SnapshotError: Error, Hashable, Sendable {
  /// The bytes are not a valid snapshot. Drop them.
  case malformed(DecodeError)
  /// The snapshot of this tick, on which the received snapshot is based, is missing. Send the
  /// acknowledgement, which requests a full snapshot.
  case missingBase(Tick)
  /// The snapshot of this tick was already received, or its baseline is so old that it is no longer
  /// stored. Drop it.
  case stale(Tick)
}
