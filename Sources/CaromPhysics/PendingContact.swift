/// A contact that will happen unless one of its discs is deflected before.
struct PendingContact {
  /// When, in the step's clock.
  var clock: Double
  /// The lower id, which is always a disc's.
  var a: Int32
  /// The other disc's id, or the count of discs and a barrier's number added.
  var b: Int32
  /// How often each was deflected when this was foreseen; another count makes it stale.
  var stampA: Int32
  var stampB: Int32
  /// Contacts foreseen together share a batch.
  var batch: Int32

  /// Earliest first; ties by the lower and then the higher id.
  @inline(__always)
  static func comesBefore(_ x: PendingContact, _ y: PendingContact) -> Bool {
    if x.clock != y.clock { return x.clock < y.clock }
    return x.a != y.a ? x.a < y.a : x.b < y.b
  }
}
