/// Times to live of records, in seconds (RFC 6762 §10).
enum TimeToLive {
  /// The time to live, in seconds, of records that contain a host's name in their name or data.
  static let host: UInt32 = 120
  /// The time to live, in seconds, of all other records.
  static let other: UInt32 = 4500
  /// The maximum time to live, in seconds, in responses to legacy queriers (RFC 6762 §6.7).
  static let legacy: UInt32 = 10
  /// The maximum time to live, in seconds, that is accepted from other hosts: one day, which limits
  /// how long unwanted records remain cached.
  static let ceiling: UInt32 = 86_400
}
