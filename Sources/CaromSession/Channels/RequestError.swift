import CaromProtocol

/// Why a question was not answered.
public enum RequestError: Error, Hashable, Sendable {
  /// It could not be sent.
  case notSent(SendError)
  /// No answer came in time.
  case timedOut
  /// Whoever was asked could not answer.
  case failed
  /// Too many questions wait there, or here; ask again later.
  case busy
  /// The connection ended before the answer came.
  case disconnected(DisconnectReason)
  /// The answer cannot be read: the two sides mean another thing by the exchange.
  case malformedAnswer
  /// The task was cancelled.
  case cancelled
}
