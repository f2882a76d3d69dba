/// Where an entity's words lie in a `SnapshotView`: id and interval, tick, values, velocities of
/// the linear fields, activities.
enum EntityRecord {
  /// Id (low 32 bits) and interval (high 32 bits).
  static let idWord = 0
  /// When its values were taken.
  static let tickWord = 1
  /// The first value.
  static let valueWord = 2
  /// Velocities are in steps of 2^-8 of a field's step a tick.
  static let velocityShift: Int64 = 8
  /// Nothing is moved on by more ticks than this.
  static let extrapolationLimit: Int64 = 255
  /// The longest interval that is told apart.
  static let intervalLimit: Int64 = 255

  /// The activities of who enters: nobody knows what it does, and few rest. Each is sixteen times
  /// the bits that differences had lately.
  static let firstActivities: Int64 = 0x3030_3030_3030_3030

  /// The id in its word.
  @inline(__always) static func id(_ word: Int64) -> UInt32 { UInt32(truncatingIfNeeded: word) }

  /// The ticks between a record's values and those that it was foretold from; 0 for a record that
  /// was sent in full.
  @inline(__always) static func interval(_ word: Int64) -> Int64 { word >> 32 }
}
