/// Which tick a snapshot is of, and from which views it is foretold.
struct SnapshotHeader: Hashable, Sendable {
  /// The oldest base that the short form tells.
  static let shortAge: Int64 = 63
  /// Ticks repeat after this many in the short form.
  static let tickRange: Int64 = 128
  /// The most ticks before the base whose views can be named.
  static let namedLimit: Int64 = 62

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

  /// Writes or reads tick, age and whether it is all. `newest` is the newest tick that the reader
  /// has seen.
  mutating func codeTick<Coder: DeltaCoder>(_ coder: inout Coder, newest: Tick?) {
    isPartial = coder.flag(isPartial, SnapshotModels.isPartial)
    let isLong = age == 0 || age > Self.shortAge
    guard coder.flag(isLong, SnapshotModels.isLong) else {
      let low = coder.bits(tick.rawValue & UInt64(Self.tickRange - 1), 7)
      age = Int64(coder.number(UInt64(bitPattern: age - 1) & 63, SnapshotModels.age, order: 2))
      guard age < Self.shortAge else { return coder.fail() }
      age += 1
      if let newest { tick = Self.expand(low, near: newest) }
      return
    }
    tick = Tick(coder.number(tick.rawValue, SnapshotModels.tick, order: 16))
    let read = coder.number(UInt64(age), SnapshotModels.age, order: 2)
    // Only what the short form cannot tell is told in the long form.
    guard read == 0 || read > UInt64(Self.shortAge), read <= tick.rawValue else {
      return coder.fail()
    }
    age = Int64(read)
  }

  /// Writes or reads which of the `count` views before the base are named.
  mutating func codeNamed<Coder: DeltaCoder>(_ coder: inout Coder, count: Int64) {
    guard count > 0, coder.flag(named != 0, SnapshotModels.isNaming) else { return }
    var read: UInt64 = 0
    for index in 0..<UInt64(count)
    where coder.flag(named >> index & 1 == 1, SnapshotModels.isNamed) {
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

  /// The tick near `newest` that has these low bits.
  private static func expand(_ low: UInt64, near newest: Tick) -> Tick {
    let ahead = (Int64(low) - Int64(newest.rawValue % UInt64(tickRange)) + tickRange) % tickRange
    let isBehind = ahead > tickRange / 2 && newest.rawValue >= UInt64(tickRange - ahead)
    return newest.advanced(by: isBehind ? ahead - tickRange : ahead)
  }
}
