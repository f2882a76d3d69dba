/// A snapshot's tick, and the views that form its baseline.
struct SnapshotHeader: Hashable, Sendable {
  /// The maximum age of a baseline, in ticks, for which the header's short form can be used.
  static let shortAge: Int64 = 63
  /// The number of low bits of the baseline's tick in the short form. These bits are unambiguous
  /// unless the packet arrives more than a second late.
  static let baseBits = 7
  /// The maximum number of ticks by which a view that the header names may be older than the
  /// baseline.
  static let namedLimit: Int64 = 62
  /// The expected age of a baseline that itself has no baseline, in ticks.
  static let usualAge: Int64 = 4

  /// The tick of the snapshot.
  var tick = Tick.zero
  /// The number of ticks by which the baseline is older than the snapshot, or 0 if there is no
  /// baseline.
  var age: Int64 = 0
  /// Whether the snapshot omits some of the changes since its baseline.
  var isPartial = false
  /// The views that are merged into the baseline; bit 0 is the tick directly before the baseline.
  var named: UInt64 = 0

  /// The tick of the baseline.
  var baseTick: Tick { tick.advanced(by: -age) }

  private var isLong: Bool { age == 0 || age > Self.shortAge }

  /// Codes the part of the header that identifies the baseline: whether the snapshot is partial;
  /// then the low bits of the baseline's tick, or the snapshot's tick and age in full. Returns the
  /// baseline's tick, or nil if there is no baseline. A reader can resolve the short form only if
  /// it has a `newest` snapshot; otherwise the result is a tick whose snapshot it does not have.
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
    // The long form is valid only if the short form cannot express the age.
    if read != 0 && read <= UInt64(Self.shortAge) || read > tick.rawValue { coder.fail() }
    age = Int64(clamping: read)
    return read == 0 || coder.failed ? nil : baseTick
  }

  /// Codes the rest of the header if there is a baseline: in the short form, the baseline's age; in
  /// both forms, which other views are merged into the baseline (`named`). The age is coded as its
  /// difference from the number of ticks between the baseline and its own baseline, which usually
  /// is the same.
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

  /// Returns how many views a header can name in addition to its baseline `base`. If `base` is
  /// partial, these are the views of up to `namedLimit` ticks between it and its own baseline;
  /// otherwise there are none.
  static func namedCount(of base: SnapshotView) -> Int64 {
    guard base.isPartial, let older = base.base else { return 0 }
    return min(older.distance(to: base.tick) - 1, namedLimit)
  }
}
