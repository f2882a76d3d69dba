import CaromTransport
import TerminalText

/// The lines that the tool writes to standard error.
enum StandardError {
  /// Writes a line without the control characters that a name or a reason may contain.
  static func write(_ line: String) {
    let line = "carom: \(TextWidth.escaped(line))\n"
    try? SystemFile.append(Array(line.utf8), to: 2)
  }
}
