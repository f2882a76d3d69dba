/// The difference between a snapshot and its base: the input of an encoder and the output of a
/// decoder.
struct SnapshotScript: Sendable {
  /// The members of the base that the snapshot removes, as indexes into the base.
  var leaves: [Int] = []
  /// The ids of the members that the snapshot adds.
  var enters: [UInt32] = []
  /// For each member of the base that is not removed, whether `values` contains its new values.
  var included: [Bool] = []
  /// The values of the included and added members, in the order of their ids.
  var values: [Int64] = []
  /// The index of each included or added member in the table from which the script was computed.
  var places: [Int] = []

  /// Whether the script contains no changes.
  var isEmpty: Bool { leaves.isEmpty && values.isEmpty }

  /// Reserves memory for `count` entities.
  mutating func reserve(_ count: Int, fields: Int) {
    leaves.reserveCapacity(count)
    enters.reserveCapacity(count)
    included.reserveCapacity(count)
    places.reserveCapacity(count)
    values.reserveCapacity(count * fields)
  }

  /// Removes all contents and keeps the allocated memory.
  mutating func removeAll() {
    leaves.removeAll(keepingCapacity: true)
    enters.removeAll(keepingCapacity: true)
    included.removeAll(keepingCapacity: true)
    values.removeAll(keepingCapacity: true)
    places.removeAll(keepingCapacity: true)
  }
}
