import ArgumentParser

/// The option that sets a time limit for a command that otherwise ends only when it is interrupted.
struct DurationOptions: ParsableArguments {
  @Option(name: .customLong("for"), help: "End after this many seconds.") var seconds: Double?

  func validate() throws {
    if let seconds, !(seconds > 0 && seconds <= 1e9) {
      throw ValidationError("--for must be a positive number of seconds.")
    }
  }

  var limit: Duration? { seconds.map { .seconds($0) } }
}
