import CaromCore

/// A query to answer, possibly received in several packets.
struct AnswerRequest: Sendable {
  /// The maximum number of packets that are collected for one query, including the first.
  static let packetLimit = 16
  /// The maximum number of queriers on one link from which the responder awaits further packets of
  /// a query.
  static let querierLimit = 256

  /// The questions for names that this responder owns, without duplicates.
  var questions: [Question]
  /// This host's records that the querier listed as known answers, each with the longest time to
  /// live that the querier stated for it, in seconds.
  var known: [Record.Identity: UInt32]
  /// The names that the query probes for. Answers for these names are sent without delay.
  var probedNames: Set<Name> = []
  /// The querier's endpoint.
  let source: Endpoint
  /// Whether a unicast response can reach the querier.
  let allowsUnicast: Bool
  /// Whether the query was sent to this host by unicast.
  let prefersUnicast: Bool
  /// Whether even unique answers are delayed, because the message has several questions (RFC 6762
  /// §6.3).
  let hasSeveralQuestions: Bool
  /// The number of packets received so far.
  var packets = 1
  /// The time at which the first packet was received.
  let arrival: Instant
  /// The time at which the response is due.
  var due: Instant
}
