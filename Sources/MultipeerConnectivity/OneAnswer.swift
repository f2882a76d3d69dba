import CaromTransport

/// Says once that a question has been answered: further answers are ignored.
final class OneAnswer: Sendable {
  private let isAnswered = Locked(false)

  /// Returns whether this is the first answer.
  func take() -> Bool {
    isAnswered.withLock { isAnswered in
      defer { isAnswered = true }
      return !isAnswered
    }
  }
}
