/// The layout of an entity's words in a `SnapshotView`: id and interval, tick, values, velocities
/// of the linear fields, and the fields' activities (see `firstActivities`).
enum EntityRecord {
  /// The index of the word that holds the id (low 32 bits) and the interval (high 32 bits).
  static let idWord = 0
  /// The index of the word that holds the tick of the entity's values.
  static let tickWord = 1
  /// The index of the word that holds the first value.
  static let valueWord = 2
  /// The number of fractional bits in a velocity, which is in steps per tick.
  static let velocityShift: Int64 = 8
  /// The maximum number of ticks by which a value is extrapolated.
  static let extrapolationLimit: Int64 = 255
  /// The largest interval that is stored, in ticks; longer ones are stored as this value.
  static let intervalLimit: Int64 = 255

  /// The initial activities of eight fields of an entity that is added to a view. An activity is
  /// sixteen times the average number of bits in a field's recent differences; new entities are
  /// assumed to be moving.
  static let firstActivities: Int64 = 0x3030_3030_3030_3030

  /// Extracts the id from the record's first word.
  @inline(__always) static func id(_ word: Int64) -> UInt32 { UInt32(truncatingIfNeeded: word) }

  /// Returns the number of ticks between the record's values and the values from which they were
  /// predicted, or 0 for a record that was sent in full.
  @inline(__always) static func interval(_ word: Int64) -> Int64 { word >> 32 }
}
