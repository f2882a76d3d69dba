import ArgumentParser

/// The option of commands that go on until they are ended.
struct WatchOptions: ParsableArguments {
  @Option(name: .customLong("for"), help: "End after this many seconds.") var seconds: Double?

  func validate() throws {
    if let seconds, !(seconds > 0 && seconds <= 1e9) {
      throw ValidationError("--for wants a number of seconds over 0.")
    }
  }

  var limit: Duration? { seconds.map { .seconds($0) } }
}
