import ArgumentParser

/// The option that limits how long a command waits for an answer.
struct TimeoutOptions: ParsableArguments {
  @Option(help: "Seconds to wait for an answer.") var timeout = 5.0

  func validate() throws {
    guard timeout > 0, timeout <= 1e9 else {
      throw ValidationError("--timeout must be a positive number of seconds.")
    }
  }

  var limit: Duration { .seconds(timeout) }
}
