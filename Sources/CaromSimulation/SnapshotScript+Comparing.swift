extension SnapshotScript {
  /// Becomes what leads from `base` to `entities`. Where a selection is given, only what it holds,
  /// by the place in `entities`, follows or enters. No more than `leaveLimit` leave at once.
  /// Returns whether something was held back.
  mutating func compare(
    _ base: SnapshotView, _ entities: EntityTable, selecting selection: [Bool]?,
    leaveLimit: Int = .max
  ) -> Bool {
    removeAll()
    let stride = entities.schema.stride
    let fields = entities.schema.fields.count
    var isPartial = false
    var place = 0
    for index in 0..<base.count {
      let id = base.id(index, stride)
      while place < entities.count, entities.ids[place] < id {
        if !enter(entities, place, selection) { isPartial = true }
        place += 1
      }
      guard place < entities.count, entities.ids[place] == id else {
        if leaves.count < leaveLimit {
          leaves.append(index)
        } else {
          included.append(false)
          isPartial = true
        }
        continue
      }
      let changes = Self.differs(base, index * stride, entities, place * fields)
      let follows = changes && (selection?[place] ?? true)
      if changes, !follows { isPartial = true }
      included.append(follows)
      if follows {
        places.append(place)
        takeValues(entities, place)
      }
      place += 1
    }
    while place < entities.count {
      if !enter(entities, place, selection) { isPartial = true }
      place += 1
    }
    return isPartial
  }

  private mutating func enter(
    _ entities: EntityTable, _ place: Int, _ selection: [Bool]?
  ) -> Bool {
    guard selection?[place] ?? true else { return false }
    places.append(place)
    enters.append(entities.ids[place])
    takeValues(entities, place)
    return true
  }

  @inline(__always) private mutating func takeValues(_ entities: EntityTable, _ place: Int) {
    let fields = entities.schema.fields.count
    for word in place * fields..<(place + 1) * fields { values.append(entities.values[word]) }
  }

  /// Whether a value changed, or is still expected to.
  @inline(__always) static func differs(
    _ base: SnapshotView, _ from: Int, _ entities: EntityTable, _ start: Int
  ) -> Bool {
    let first = from + EntityRecord.valueWord
    let fields = entities.schema.fields.count
    var difference: Int64 = 0
    for word in 0..<fields {
      difference |= base.words[first + word] ^ entities.values[start + word]
    }
    for word in first + fields..<from + entities.schema.activityWord {
      difference |= base.words[word]
    }
    return difference != 0
  }
}
