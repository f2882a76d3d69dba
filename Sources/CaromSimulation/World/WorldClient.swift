import CaromCore

/// The state that a world keeps for each client.
struct WorldClient: Sendable {
  /// An entity that the client should see, whether or not a snapshot has included it yet.
  struct Seen: Sendable {
    var id: UInt32
    var slot: Int32
    /// The number of ticks between successive snapshots that include the entity.
    var interval: Int32
    /// The number of ticks since the entity was last included. It starts at `interval`, so that a
    /// new entity is due at once.
    var waited: Int32
  }

  /// The number of entities for which memory is reserved at the start.
  private static let typicalCount = 256

  var sender: SnapshotSender
  /// The center of the client's area of interest, in steps, or nil if the client receives every
  /// entity.
  var focus: (x: Int64, y: Int64)?
  var seen: [Seen] = []
  private var nextSeen: [Seen] = []
  private var near: [Int32] = []
  private var keys: [UInt64] = []
  var table: EntityTable
  var selection: [Bool] = []
  var queue = PriorityAccumulator()
  var bucket: TokenBucket?
  /// The recent average size of an encoded entity in bits.
  var entityBits: Int
  /// The value of `WorldEntities.placement` at the last refresh.
  private(set) var placement = -1
  private var refreshedAt: Tick?
  var writtenAt: Tick?
  /// Whether anything visible may have changed since the client was last up to date.
  var isAwake = true

  init(_ configuration: WorldConfiguration) {
    sender = SnapshotSender(schema: configuration.schema)
    sender.leaveLimit = configuration.snapshotLimit / 4
    table = EntityTable(schema: configuration.schema)
    entityBits = configuration.schema.fields.reduce(16) { $0 + $1.width }
    bucket = configuration.bandwidth.map {
      TokenBucket(
        capacity: max(configuration.snapshotLimit, $0 / 10),
        tokens: $0, per: Int64(configuration.ticksPerSecond))
    }
    reserve()
  }

  /// Reserves memory for a typical number of entities, so that later ticks do not allocate.
  private mutating func reserve() {
    seen.reserveCapacity(Self.typicalCount)
    nextSeen.reserveCapacity(Self.typicalCount)
    near.reserveCapacity(2 * Self.typicalCount)
    keys.reserveCapacity(Self.typicalCount)
    selection.reserveCapacity(Self.typicalCount)
    table.reserve(Self.typicalCount)
    sender.reserve(Self.typicalCount)
  }

  /// Records that something visible to the client changed.
  mutating func wake() { isAwake = true }

  mutating func setFocus(_ place: (x: Int64, y: Int64)?) {
    guard place?.x != focus?.x || place?.y != focus?.y else { return }
    focus = place
    placement = -1
    isAwake = true
  }

  // MARK: - Visible entities

  /// Updates the list of visible entities if any entity was added, removed or moved. Until the
  /// refresh interval has passed, only drops entities that no longer exist.
  mutating func refresh(_ world: WorldEntities, _ configuration: WorldConfiguration, at tick: Tick)
  {
    guard placement != world.placement else { return }
    if let area = configuration.area, focus != nil, let last = refreshedAt,
      last.distance(to: tick) < Int64(area.refreshInterval)
    {
      return removeMissing(world)
    }
    placement = world.placement
    refreshedAt = tick
    gather(world, configuration)
    merge(world, configuration)
  }

  /// Removes from the list of visible entities those that no longer exist, without waiting for the
  /// next refresh.
  private mutating func removeMissing(_ world: WorldEntities) {
    seen.removeAll {
      let slot = Int($0.slot)
      return !world.isPresent[slot] || world.ids[slot] != $0.id
    }
  }

  /// Collects the entities near the focus, or all entities if there is no focus, in ascending order
  /// of their ids.
  private mutating func gather(_ world: WorldEntities, _ configuration: WorldConfiguration) {
    keys.removeAll(keepingCapacity: true)
    if let focus, let area = configuration.area, let grid = world.grid {
      near.removeAll(keepingCapacity: true)
      let step = configuration.schema.fields[area.positionField].step
      let stay = area.radius * InterestArea.leaveFactor / step
      grid.gather(x: focus.x, y: focus.y, radius: Int64(stay) + 1, into: &near)
      for slot in near where distance(world.place(Int(slot)), from: focus) <= stay * stay {
        keys.append(UInt64(world.ids[Int(slot)]) << 32 | UInt64(slot))
      }
    } else {
      for slot in world.ids.indices where world.isPresent[slot] {
        keys.append(UInt64(world.ids[slot]) << 32 | UInt64(slot))
      }
    }
    keys.sortInPlace()
  }

  private func distance(_ place: (x: Int64, y: Int64), from focus: (x: Int64, y: Int64)) -> Double {
    let x = Double(place.x - focus.x)
    let y = Double(place.y - focus.y)
    return x * x + y * y
  }

  /// Updates the list of visible entities from the collected ones, keeping the waiting time of
  /// entities that were visible before.
  private mutating func merge(_ world: WorldEntities, _ configuration: WorldConfiguration) {
    nextSeen.removeAll(keepingCapacity: true)
    var old = 0
    for key in keys {
      let id = UInt32(key >> 32)
      while old < seen.count, seen[old].id < id { old += 1 }
      let isOld = old < seen.count && seen[old].id == id
      let slot = Int(key & 0xFFFF_FFFF)
      var interval = 1
      if let focus, let area = configuration.area {
        let step = configuration.schema.fields[area.positionField].step
        let squared = distance(world.place(slot), from: focus)
        if !isOld, squared > (area.radius / step) * (area.radius / step) { continue }
        interval = area.interval(squared: squared, step: step)
      }
      nextSeen.append(
        Seen(
          id: id, slot: Int32(slot), interval: Int32(interval),
          waited: isOld ? seen[old].waited : Int32(interval)))
    }
    swap(&seen, &nextSeen)
  }

  /// Returns whether a changed entity is or becomes visible to the client.
  func concerns(_ slot: Int, _ world: WorldEntities, _ configuration: WorldConfiguration) -> Bool {
    guard let focus, let area = configuration.area else { return true }
    let id = world.ids[slot]
    var low = 0
    var high = seen.count
    while low < high {
      let middle = (low + high) / 2
      if seen[middle].id < id { low = middle + 1 } else { high = middle }
    }
    if low < seen.count, seen[low].id == id { return true }
    guard world.isPresent[slot] else { return false }
    let reach = area.radius / configuration.schema.fields[area.positionField].step
    return distance(world.place(slot), from: focus) <= reach * reach
  }
}
