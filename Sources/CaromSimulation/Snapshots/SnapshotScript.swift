/// The difference between a snapshot and its baseline: the input of an encoder and the output of a
/// decoder.
struct SnapshotScript: Sendable {
  /// The entities of the baseline that the snapshot removes, as indexes into the baseline.
  var leaves: [Int] = []
  /// The ids of the entities that the snapshot adds.
  var enters: [UInt32] = []
  /// For each entity of the baseline that is not removed, whether `values` contains its new values.
  var included: [Bool] = []
  /// The values of the included and added entities, ordered by id.
  var values: [Int64] = []
  /// The index of each included or added entity in the table from which the script was computed.
  var places: [Int] = []

  /// Whether the script contains no changes.
  var isEmpty: Bool { leaves.isEmpty && values.isEmpty }

  /// Reserves memory for `count` entities with `fields` fields each.
  mutating func reserve(_ count: Int, fields: Int) {
    leaves.reserveCapacity(count)
    enters.reserveCapacity(count)
    included.reserveCapacity(count)
    places.reserveCapacity(count)
    values.reserveCapacity(count * fields)
  }

  /// Removes all contents, but keeps the allocated memory.
  mutating func removeAll() {
    leaves.removeAll(keepingCapacity: true)
    enters.removeAll(keepingCapacity: true)
    included.removeAll(keepingCapacity: true)
    values.removeAll(keepingCapacity: true)
    places.removeAll(keepingCapacity: true)
  }
}
