import AirHockey
import AirHockeyTerminal
import CTerminal
import CaromCore
import CaromPhysics
import Foundation

/// Lines, for logs and pipes.
struct PlainFace: GameFace {
  /// Where the lines go.
  let output: FileHandle

  func commands(at now: Instant) -> [Controls.Command] { [] }
  func sampleFirst(mallet: Vector, at now: Instant) -> MalletInput? { nil }
  func sampleSecond(mallet: Vector, at now: Instant) -> MalletInput? { nil }
  func present(_ view: TableView) {}
  /// Names and reasons come from strangers. A line that nobody takes is left out: a log that is
  /// not read must not hold the game.
  func tell(_ line: String) {
    guard cterminal_takes(output.fileDescriptor) else { return }
    try? output.write(contentsOf: Data("\(TextWidth.plain(line))\n".utf8))
  }
  func close() {}
}
