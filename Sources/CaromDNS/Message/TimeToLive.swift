/// How long records may be kept, seconds (RFC 6762 §10).
enum TimeToLive {
  /// Records with a host's name in their name or data.
  static let host: UInt32 = 120
  /// All others.
  static let other: UInt32 = 4500
  /// In answers to legacy askers, at most (RFC 6762 §6.7).
  static let legacy: UInt32 = 10
  /// Records of others are kept no longer than a day, so that junk does not stay.
  static let ceiling: UInt32 = 86_400
}
