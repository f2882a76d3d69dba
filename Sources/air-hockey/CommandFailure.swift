import TerminalText

/// An error that ends the program with an exit status and prints a line to standard error.
struct CommandFailure: Error, Equatable {
  typealias Status = ExitStatus

  let status: Status
  let line: String

  init(_ status: Status, _ line: String) {
    self.status = status
    self.line = line
  }
}
