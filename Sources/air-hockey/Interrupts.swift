import CTerminal

/// Requests of the system to end: the first lets a session say goodbye, one that insists, 0.3 s
/// later or more, is obeyed at once.
enum Interrupts {
  /// Counts interrupts, hang-ups and requests to terminate from now on.
  static func begin() { cterminal_catch_signals() }

  /// Whether one came.
  static var isRequested: Bool { cterminal_signal() != 0 }
}
