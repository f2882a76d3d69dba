extension WorldClient {
  /// The maximum number of attempts to encode a snapshot within the byte limit.
  private static let attemptLimit = 6
  /// The minimum number of bytes that must be available before encoding a snapshot is attempted.
  private static let fewestBytes = 8

  /// Encodes the client's snapshot of a tick into the sender's bytes. Returns false if there is
  /// nothing to send or if the snapshot does not fit.
  mutating func write(
    _ world: WorldEntities, _ configuration: WorldConfiguration, at tick: Tick
  ) -> Bool {
    guard isAwake else { return false }
    refresh(world, configuration, at: tick)
    let elapsed = writtenAt.map { Int32(clamping: $0.distance(to: tick)) } ?? 1
    writtenAt = tick
    fillTable(world, elapsed)
    sender.plan(table, at: tick, selecting: selection)
    guard !sender.isPlanEmpty else {
      // A client that is up to date is skipped until something visible to it changes.
      isAwake = sender.isPlanPartial || placement != world.placement
      return false
    }
    let room = min(
      configuration.snapshotLimit, bucket?.available(at: Int64(bitPattern: tick.rawValue)) ?? .max)
    guard room >= Self.fewestBytes, fit(room, at: tick) else { return false }
    sender.commit()
    _ = bucket?.consume(sender.bytes.count, at: Int64(bitPattern: tick.rawValue))
    for place in sender.plannedPlaces { seen[place].waited = 0 }
    return true
  }

  /// Collects the values of all visible entities, and selects the entities that are due.
  private mutating func fillTable(_ world: WorldEntities, _ elapsed: Int32) {
    let fields = world.schema.fields.count
    let values = world.values.span
    table.removeAll()
    selection.removeAll(keepingCapacity: true)
    for index in seen.indices {
      let one = seen[index]
      table.append(one.id, from: values, at: Int(one.slot) * fields)
      let waited = min(one.waited, 1 << 20) + elapsed
      seen[index].waited = waited
      selection.append(waited >= one.interval)
    }
  }

  /// Encodes the plan within `room` bytes. Entities that are most overdue relative to their
  /// interval go first. Returns false if not even one entity fits.
  private mutating func fit(_ room: Int, at tick: Tick) -> Bool {
    var planned = sender.plannedPlaces.count
    var most = max(8 * room / entityBits, 1) * 5 / 4
    var isSorted = false
    for _ in 0..<Self.attemptLimit {
      if planned > most {
        if !isSorted { sortPlanned() }
        isSorted = true
        planned = most
        select(planned, at: tick)
      }
      sender.writePlanned()
      let bytes = sender.bytes.count
      if planned > 0 { entityBits = max(1, (3 * entityBits + 8 * bytes / planned) / 4) }
      if bytes <= room { return true }
      guard planned > 1 else { break }
      most = min(planned - 1, max(1, planned * room / bytes * 15 / 16))
      if !isSorted { sortPlanned() }
      isSorted = true
      planned = most
      select(planned, at: tick)
    }
    sender.withdraw()
    return false
  }

  /// Sorts the planned entities by priority. The priority of an entity that the client does not
  /// have yet is doubled.
  private mutating func sortPlanned() {
    queue.removeAll()
    var enter = 0
    for place in sender.plannedPlaces {
      let one = seen[place]
      let enters = sender.plannedEnters
      let isNew = enter < enters.count && enters[enter] == one.id
      if isNew { enter += 1 }
      let gained = Int(one.waited) * 64 / Int(one.interval)
      queue.append(place, gained: isNew ? 2 * gained : gained)
    }
    queue.sort()
  }

  /// Makes a new plan with the first `count` entities of the queue.
  private mutating func select(_ count: Int, at tick: Tick) {
    for index in selection.indices { selection[index] = false }
    for index in 0..<count { selection[queue[index]] = true }
    sender.plan(table, at: tick, selecting: selection)
  }
}
