/// The encoding of a snapshot's entities and values. One implementation serves both encoding and
/// decoding, and both the range-coded and the Golomb-Rice form.
struct SnapshotFormat: Sendable {
  /// The constants of an entity field, collected for fast access.
  struct Field: Sendable {
    var lower: Int64
    var upper: Int64
    var span: Int64
    var width: Int
    var wraps: Bool
    /// The index of the velocity word in the record, or -1 if the field is not linear.
    var velocityWord: Int
    /// The index of the field's first model.
    var models: Int
    /// Whether there is a previous field whose change predicts this field's change.
    var continues: Bool
  }

  let schema: EntitySchema
  let fields: [Field]
  let stride: Int
  let activityWord: Int
  /// The maximum number of entities. The limit is checked before memory for them is allocated.
  let memberLimit: Int

  init(_ schema: EntitySchema, memberLimit: Int) {
    self.schema = schema
    self.memberLimit = memberLimit
    stride = schema.stride
    activityWord = schema.activityWord
    fields = schema.fields.indices.map { index in
      let field = schema.fields[index]
      return Field(
        lower: field.lowerBound, upper: field.upperBound, span: field.span, width: field.width,
        wraps: field.wraps, velocityWord: schema.velocityWords[index],
        models: SnapshotModels.fields + schema.modelSets[index] * SnapshotModels.setCount,
        continues: index > 0)
    }
  }

  /// Writes the contents of `script` or, if `isReading` is true, reads them into it. Sets `view`,
  /// whose tick is already set, to the receiver's view after this snapshot.
  func code<Coder: DeltaCoder>(
    _ coder: inout Coder, _ models: inout MutableSpan<RangeModel>,
    _ script: inout SnapshotScript, from base: SnapshotView, into view: inout SnapshotView,
    isReading: Bool
  ) {
    codeMembers(&coder, &models, &script, base, isReading)
    guard !coder.failed else { return }
    view.clear(room: base.count + script.enters.count, stride: stride)
    var walk = SnapshotWalk(tick: Int64(bitPattern: view.tick.rawValue))
    let source = base.words.span
    var out = view.words.mutableSpan
    for index in 0..<base.count {
      let from = index * stride
      let id = EntityRecord.id(source[from])
      while walk.enter < script.enters.count, script.enters[walk.enter] < id {
        codeEntering(&coder, &script, &out, &walk, isReading)
      }
      if walk.leave < script.leaves.count, script.leaves[walk.leave] == index {
        walk.leave += 1
        continue
      }
      for word in 0..<stride { out[walk.out &+ word] = source[from &+ word] }
      codeStaying(&coder, &models, &script, &out, &walk, isReading)
      walk.out &+= stride
    }
    while walk.enter < script.enters.count {
      codeEntering(&coder, &script, &out, &walk, isReading)
    }
    view.count = walk.out / stride
  }

  // MARK: - Members

  private func codeMembers<Coder: DeltaCoder>(
    _ coder: inout Coder, _ models: inout MutableSpan<RangeModel>,
    _ script: inout SnapshotScript, _ base: SnapshotView, _ isReading: Bool
  ) {
    let changes = !(script.leaves.isEmpty && script.enters.isEmpty)
    guard coder.flag(changes, SnapshotModels.changesMembers, &models) else { return }
    let leaves = coder.number(
      UInt64(script.leaves.count), SnapshotModels.members, &models, order: 0)
    guard leaves <= UInt64(base.count) else { return coder.fail() }
    var last = -1
    for index in 0..<Int(leaves) {
      let gap = isReading ? 0 : UInt64(script.leaves[index] - last - 1)
      let read = coder.number(gap, SnapshotModels.gap, &models, order: 3)
      guard read < UInt64(base.count - last - 1) else { return coder.fail() }
      last += Int(read) + 1
      if isReading { script.leaves.append(last) }
    }
    let enters = coder.number(
      UInt64(script.enters.count), SnapshotModels.members, &models, order: 0)
    let room = memberLimit - base.count + Int(leaves)
    guard room >= 0, enters <= UInt64(room), leaves + enters > 0 else { return coder.fail() }
    var id: Int64 = -1
    for index in 0..<Int(enters) {
      let gap = isReading ? 0 : UInt64(Int64(script.enters[index]) - id - 1)
      let read = coder.number(gap, SnapshotModels.gap, &models, order: 3)
      guard read < UInt64(Int64(UInt32.max) - id), !coder.failed else { return coder.fail() }
      id += Int64(read) + 1
      if isReading { script.enters.append(UInt32(id)) }
    }
  }

  // MARK: - Entities

  private func codeEntering<Coder: DeltaCoder>(
    _ coder: inout Coder, _ script: inout SnapshotScript, _ out: inout MutableSpan<Int64>,
    _ walk: inout SnapshotWalk, _ isReading: Bool
  ) {
    for word in 0..<activityWord { out[walk.out + word] = 0 }
    for word in activityWord..<stride { out[walk.out + word] = EntityRecord.firstActivities }
    out[walk.out] = Int64(script.enters[walk.enter])
    out[walk.out + EntityRecord.tickWord] = walk.tick
    for index in fields.indices {
      let field = fields[index]
      let offset = isReading ? 0 : UInt64(script.values[walk.value] - field.lower)
      let read = coder.bits(offset, field.width)
      if read >= UInt64(field.span) { coder.fail() }
      let value = min(Int64(read) + field.lower, field.upper)
      if isReading { script.values.append(value) }
      out[walk.out + EntityRecord.valueWord + index] = value
      walk.value += 1
    }
    walk.out += stride
    walk.enter += 1
  }

  /// Codes whether new values follow for an entity that is in both the baseline and the snapshot
  /// and, if so, the values. Updates the entity's record at `walk.out`.
  @inline(__always) private func codeStaying<Coder: DeltaCoder>(
    _ coder: inout Coder, _ models: inout MutableSpan<RangeModel>,
    _ script: inout SnapshotScript, _ out: inout MutableSpan<Int64>,
    _ walk: inout SnapshotWalk, _ isReading: Bool
  ) {
    let given = isReading ? false : script.included[walk.member]
    let age = walk.tick &- out[walk.out &+ EntityRecord.tickWord]
    let isIncluded = coder.flag(given, includedModel(out, age, walk), &models)
    if isReading { script.included.append(isIncluded) }
    walk.member &+= 1
    walk.record(isIncluded)
    guard isIncluded else { return }
    let id = EntityRecord.id(out[walk.out])
    out[walk.out] = Int64(id) | min(age, EntityRecord.intervalLimit) << 32
    out[walk.out &+ EntityRecord.tickWord] = walk.tick
    let ticks = min(age, EntityRecord.extrapolationLimit)
    var surprise = 0
    for index in fields.indices {
      codeValue(&coder, &models, &script, &out, &walk, index, ticks, &surprise, isReading)
    }
  }

  /// Returns the index of the model for the bit that says whether an entity's values follow. The
  /// model depends on whether the entity is due, whether it moves, and whether the two entities
  /// before it were included.
  @inline(__always) private func includedModel(
    _ out: borrowing MutableSpan<Int64>, _ age: Int64, _ walk: SnapshotWalk
  ) -> Int {
    let interval = EntityRecord.interval(out[walk.out])
    let due = interval == 0 ? 3 : age < interval ? 0 : age == interval ? 1 : 2
    var velocity: Int64 = 0
    for word in EntityRecord.valueWord &+ fields.count..<activityWord {
      velocity |= out[walk.out &+ word]
    }
    let context = due << 3 | (velocity == 0 ? 0 : 4) | walk.recent
    return SnapshotModels.isIncluded &+ context
  }

  /// Codes one field of an entity as its difference from the prediction, and updates the record.
  @inline(__always) private func codeValue<Coder: DeltaCoder>(
    _ coder: inout Coder, _ models: inout MutableSpan<RangeModel>,
    _ script: inout SnapshotScript, _ out: inout MutableSpan<Int64>,
    _ walk: inout SnapshotWalk, _ index: Int, _ ticks: Int64, _ surprise: inout Int,
    _ isReading: Bool
  ) {
    let field = fields[index]
    let place = walk.out &+ EntityRecord.valueWord &+ index
    let last = out[place]
    let velocity = field.velocityWord < 0 ? 0 : out[walk.out &+ field.velocityWord]
    let predicted = Self.predict(last, velocity, ticks, field)
    let word = walk.out &+ activityWord &+ index >> 3
    let shift = Int64(truncatingIfNeeded: index & 7) &* 8
    let activity = out[word] &>> shift & 0xFF
    let order = Int(truncatingIfNeeded: (activity &+ 8) >> 4)
    let level = min(order, SnapshotModels.classes - 1)
    let model =
      field.models &+ (level &* SnapshotModels.surprises &+ surprise) &* DeltaBins.count
    let given = isReading ? 0 : Self.difference(script.values[walk.value], predicted, field)
    let residual = coder.residual(given, model, &models, order: order)
    let value = Self.sum(predicted, residual, field)
    if value < field.lower || value > field.upper { coder.fail() }
    if isReading { script.values.append(value) }
    walk.value &+= 1
    out[place] = value
    let size = Int64(truncatingIfNeeded: 64 &- residual.magnitude.leadingZeroBitCount) << 4
    let next = min((activity &+ size &+ 1) >> 1, 0xFF)
    out[word] = out[word] & ~(0xFF &<< shift) | next &<< shift
    surprise = size > activity &+ 20 ? 1 : size &+ 20 < activity ? 2 : 0
    guard field.velocityWord >= 0 else { return }
    out[walk.out &+ field.velocityWord] = Self.velocity(
      Self.difference(value, last, field), ticks, before: velocity, residual)
  }
}

/// The positions in the baseline, the script and the view while a snapshot is coded.
struct SnapshotWalk {
  /// The snapshot's tick as a signed integer, as records store it.
  let tick: Int64
  /// The index of the first word of the next record in the view.
  var out = 0
  var member = 0
  var leave = 0
  var enter = 0
  var value = 0
  /// Whether each of the last two entities was included, as two bits. Bit 0 is the more recent
  /// entity.
  var recent = 0

  init(tick: Int64) { self.tick = tick }

  @inline(__always) mutating func record(_ isIncluded: Bool) {
    recent = recent << 1 & 2 | (isIncluded ? 1 : 0)
  }
}
