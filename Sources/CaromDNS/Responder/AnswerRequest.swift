import CaromCore

/// What one asker wants to know, perhaps from several packets.
struct AnswerRequest: Sendable {
  /// Further packets of known answers that are collected, together with the first.
  static let packetLimit = 16
  /// Askers on one link whose further packets are waited for.
  static let askerLimit = 256

  /// The questions that names of ours are asked for, each once.
  var questions: [Question]
  /// The records of ours that the asker knows, and the longest life it gives them.
  var known: [Record.Identity: UInt32]
  /// The names that it probes for: these are defended at once.
  var probed: Set<Name> = []
  /// Who asks.
  let source: Endpoint
  /// Whether a unicast answer reaches it.
  let mayUnicast: Bool
  /// Whether it asked us alone.
  let prefersUnicast: Bool
  /// Whether the answers wait even where nobody else has them: several questions came in one
  /// message (RFC 6762 §6.3).
  let isSpread: Bool
  /// Packets that it is made of.
  var packets = 1
  /// When the first packet came.
  let arrival: Instant
  /// When it is answered.
  var due: Instant
}
