import ArgumentParser

/// The option that limits how long a command runs.
struct TimeLimitOptions: ParsableArguments {
  /// How long a command waits for an answer if no limit is given.
  static let answerLimit = Duration.seconds(5)

  @Option(
    name: [.customLong("timeout"), .customLong("for")], parsing: .unconditional,
    help: """
      End after this many seconds. Default: 5 for a command that waits for an answer, no limit for \
      one that watches.
      """)
  var seconds: Double?

  func validate() throws {
    if let seconds, !(seconds > 0 && seconds <= 1e9) {
      throw ValidationError("--timeout must be a positive number of seconds.")
    }
  }

  /// The limit for a command that watches; nil if there is none.
  var limit: Duration? { seconds.map { .seconds($0) } }

  /// The limit for a command that waits for an answer.
  var answerLimit: Duration { limit ?? Self.answerLimit }
}
