/// A predicted contact, which will happen unless one of its discs is deflected first.
struct PendingContact {
  /// The reading of the step's clock at the contact (see `MotionLaw`). The clock starts at 0; with
  /// drag, it runs slower than time.
  var clock: Double
  /// The id of the disc, or the lower id of two discs.
  var a: Int32
  /// The id of the other disc. For a barrier, the number of discs plus the barrier's raw value.
  var b: Int32
  /// The stamp of disc `a` when the contact was predicted. The contact is stale once the stamp of
  /// either disc has changed.
  var stampA: Int32
  /// The stamp of disc `b` when the contact was predicted, or 0 for a barrier.
  var stampB: Int32
  /// The number of the prediction pass. All contacts predicted in one pass have the same number.
  var batch: Int32

  /// Returns whether `x` is handled before `y`: the earlier contact first, then the contact with
  /// the lower `a`, then the contact with the lower `b`.
  @inline(__always)
  static func comesBefore(_ x: PendingContact, _ y: PendingContact) -> Bool {
    if x.clock != y.clock { return x.clock < y.clock }
    return x.a != y.a ? x.a < y.a : x.b < y.b
  }
}
