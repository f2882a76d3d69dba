/// Which tick a snapshot is of, and from which views it is foretold.
struct SnapshotHeader: Hashable, Sendable {
  /// The oldest base that the short form tells.
  static let shortAge: Int64 = 63
  /// Bits of the base's tick in the short form: no base is that many ticks older than the newest
  /// snapshot that its reader has, unless a packet comes a second late.
  static let baseBits = 7
  /// The most ticks before the base whose views can be named.
  static let namedLimit: Int64 = 62
  /// The age that is expected where the base has none itself.
  static let usualAge: Int64 = 4

  /// The snapshot's tick.
  var tick = Tick.zero
  /// How many ticks older its base is; 0 where it has none.
  var age: Int64 = 0
  /// Whether something that changed was held back.
  var isPartial = false
  /// Views beside the base: bit 0 that of the tick before the base, and so on.
  var named: UInt64 = 0

  /// The tick of the base.
  var baseTick: Tick { tick.advanced(by: -age) }

  private var isLong: Bool { age == 0 || age > Self.shortAge }

  /// Writes or reads what names the base: its tick, or tick and age of the snapshot. A reader who
  /// has `newest` learns the base's tick; `nil` where there is none. Who has nothing learns of a
  /// tick that nobody has.
  mutating func codeBase<Coder: DeltaCoder>(
    _ coder: inout Coder, _ models: inout MutableSpan<RangeModel>, newest: Tick?
  ) -> Tick? {
    isPartial = coder.flag(isPartial, SnapshotModels.isPartial, &models)
    guard coder.flag(isLong, SnapshotModels.isLong, &models) else {
      let range = UInt64(1) << UInt64(Self.baseBits)
      let low = coder.bits(baseTick.rawValue & (range - 1), Self.baseBits)
      age = max(age, 1)
      guard let newest else { return baseTick }
      let back = (newest.rawValue &- low) & (range - 1)
      return newest.advanced(by: -Int64(back))
    }
    tick = Tick(coder.number(tick.rawValue, SnapshotModels.tick, &models, order: 16))
    let read = coder.number(UInt64(age), SnapshotModels.members, &models, order: 2)
    // Only what the short form cannot tell is told in the long form.
    if read != 0 && read <= UInt64(Self.shortAge) || read > tick.rawValue { coder.fail() }
    age = Int64(clamping: read)
    return read == 0 || coder.failed ? nil : baseTick
  }

  /// Writes or reads the age in the short form, which is mostly that which the base had, and which
  /// views before the base are named.
  mutating func codeRest<Coder: DeltaCoder>(
    _ coder: inout Coder, _ models: inout MutableSpan<RangeModel>, base: SnapshotView
  ) {
    guard age > 0 else { return }
    if !isLong {
      let usual = base.base.map { min($0.distance(to: base.tick), Self.shortAge) } ?? Self.usualAge
      let (read, overflow) = coder.residual(age - usual, SnapshotModels.age, &models, order: 0)
        .addingReportingOverflow(usual)
      guard !overflow, read >= 1, read <= Self.shortAge else { return coder.fail() }
      age = read
      tick = base.tick.advanced(by: age)
    }
    codeNamed(&coder, &models, count: Self.namedCount(of: base))
  }

  private mutating func codeNamed<Coder: DeltaCoder>(
    _ coder: inout Coder, _ models: inout MutableSpan<RangeModel>, count: Int64
  ) {
    guard count > 0, coder.flag(named != 0, SnapshotModels.isNaming, &models) else { return }
    var read: UInt64 = 0
    for index in 0..<UInt64(count)
    where coder.flag(named >> index & 1 == 1, SnapshotModels.isNamed, &models) {
      read |= 1 << index
    }
    named = read
    if named == 0 { coder.fail() }
  }

  /// How many views before `base` can be named: those that it was not foretold from already, where
  /// it does not hold everything.
  static func namedCount(of base: SnapshotView) -> Int64 {
    guard base.isPartial, let older = base.base else { return 0 }
    return min(older.distance(to: base.tick) - 1, namedLimit)
  }
}
