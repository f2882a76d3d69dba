import AirHockeyTerminal
import CTerminal
import Foundation

/// Writes events as lines to a log or a pipe.
struct LineDisplay: GameDisplay {
  let output: FileHandle

  /// Writes a line without the control characters that a peer's name or reason may contain. Drops
  /// the line if writing would block, since a log without a reader must not stop the game.
  func write(_ line: String) {
    guard cterminal_takes(output.fileDescriptor) else { return }
    try? output.write(contentsOf: Data("\(TextWidth.plain(line))\n".utf8))
  }
}
