import CTerminal

/// Requests to terminate the program: the signals SIGINT, SIGTERM and SIGHUP. The first signal ends
/// the session with goodbyes. Another signal at least 0.3 s later ends the process immediately.
enum Interrupts {
  /// Installs handlers for the three signals.
  static func begin() { cterminal_catch_signals() }

  /// Whether a signal has been received.
  static var isRequested: Bool { cterminal_signal() != 0 }
}
