import CTerminal

/// Requests to terminate the program: the signals SIGINT, SIGTERM and SIGHUP. The first signal ends
/// the session with goodbyes. Another signal at least 0.3 s later ends the process immediately.
enum Interrupts {
  /// Installs handlers for the three signals, and turns broken pipes into errors: a game whose
  /// output has lost its reader ends with goodbyes, too.
  static func begin() {
    cterminal_catch_signals()
    cterminal_ignore_broken_pipes()
  }

  /// Whether a signal has been received.
  static var isRequested: Bool { cterminal_signal() != 0 }
}
