/// What a snapshot says beside its base: what an encoder is given and what a decoder finds.
struct SnapshotScript: Sendable {
  /// Members of the base that are no longer there, by their place in it.
  var leaves: [Int] = []
  /// Ids that the base does not have.
  var enters: [UInt32] = []
  /// Of each member of the base that stays, whether its values follow.
  var included: [Bool] = []
  /// The values of what is included or enters, in the order of ids.
  var values: [Int64] = []
  /// Where what is included or enters stands in the table that it was taken from.
  var places: [Int] = []

  /// Whether nothing is said at all.
  var isEmpty: Bool { leaves.isEmpty && values.isEmpty }

  /// Makes room for that many entities.
  mutating func reserve(_ count: Int, fields: Int) {
    leaves.reserveCapacity(count)
    enters.reserveCapacity(count)
    included.reserveCapacity(count)
    places.reserveCapacity(count)
    values.reserveCapacity(count * fields)
  }

  /// Forgets everything.
  mutating func removeAll() {
    leaves.removeAll(keepingCapacity: true)
    enters.removeAll(keepingCapacity: true)
    included.removeAll(keepingCapacity: true)
    values.removeAll(keepingCapacity: true)
    places.removeAll(keepingCapacity: true)
  }
}
