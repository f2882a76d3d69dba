import CaromCore

/// Answers that wait for the same moment, to leave in as few messages as they fit in.
struct AnswerBatch: Sendable {
  /// Answers are put off so long to leave together with later ones (RFC 6762 §6.4).
  static let patience = Duration.milliseconds(500)
  /// Batches that wait for a second to pass leave at multiples of this, so that there are few.
  static let grid = Duration.milliseconds(10)

  let id: UInt64
  var due: Instant
  /// Up to when it may be put off.
  let latest: Instant
  /// The slots of its records; a slot that moved on names another batch.
  var slots: [Int] = []
}
