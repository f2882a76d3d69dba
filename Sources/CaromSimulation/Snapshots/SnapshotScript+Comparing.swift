extension SnapshotScript {
  /// Computes the changes from `base` to `entities`. If there is a `selection`, which is indexed
  /// like `entities`, only selected entities are updated or added. At most `leaveLimit` entities
  /// are removed, and at most `memberLimit` remain. Returns whether any change was omitted.
  mutating func compare(
    _ base: SnapshotView, _ entities: EntityTable, selecting selection: [Bool]?,
    leaveLimit: Int = .max, memberLimit: Int = .max
  ) -> Bool {
    removeAll()
    let schema = entities.schema
    let layout = Layout(
      stride: schema.stride, fields: schema.fields.count, end: schema.activityWord,
      enterLimit: memberLimit - base.count)
    let words = base.words.span
    let ids = entities.ids.span
    let now = entities.values.span
    var isPartial = false
    var place = 0
    for index in 0..<base.count {
      let from = index &* layout.stride
      let id = EntityRecord.id(words[from])
      while place < ids.count, ids[place] < id {
        if !enter(ids[place], place, now, layout, selection) { isPartial = true }
        place &+= 1
      }
      guard place < ids.count, ids[place] == id else {
        if leaves.count < leaveLimit {
          leaves.append(index)
        } else {
          included.append(false)
          isPartial = true
        }
        continue
      }
      let changes = layout.differs(words, from, now, place)
      let follows = changes && (selection?[place] ?? true)
      if changes, !follows { isPartial = true }
      included.append(follows)
      if follows { append(place, now, layout) }
      place &+= 1
    }
    while place < ids.count {
      if !enter(ids[place], place, now, layout, selection) { isPartial = true }
      place &+= 1
    }
    return isPartial
  }

  private mutating func enter(
    _ id: UInt32, _ place: Int, _ now: Span<Int64>, _ layout: Layout, _ selection: [Bool]?
  ) -> Bool {
    guard selection?[place] ?? true, enters.count &- leaves.count < layout.enterLimit else {
      return false
    }
    enters.append(id)
    append(place, now, layout)
    return true
  }

  @inline(__always) private mutating func append(
    _ place: Int, _ now: Span<Int64>, _ layout: Layout
  ) {
    places.append(place)
    let start = place &* layout.fields
    for word in start..<start &+ layout.fields { values.append(now[word]) }
  }

  /// The constants of a comparison: the layout of the records, and the limit on added entities.
  private struct Layout {
    let stride: Int
    let fields: Int
    /// The index after the last velocity word.
    let end: Int
    /// The maximum by which the number of added entities may exceed the number of removed ones.
    let enterLimit: Int

    /// Returns whether a value of an entity changed, or is predicted to change because its velocity
    /// is not zero.
    @inline(__always) func differs(
      _ words: Span<Int64>, _ from: Int, _ now: Span<Int64>, _ place: Int
    ) -> Bool {
      let first = from &+ EntityRecord.valueWord
      let start = place &* fields
      var difference: Int64 = 0
      for word in 0..<fields { difference |= words[first &+ word] ^ now[start &+ word] }
      for word in first &+ fields..<from &+ end { difference |= words[word] }
      return difference != 0
    }
  }
}
