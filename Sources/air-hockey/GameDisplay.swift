import AirHockey
import AirHockeyTerminal
import CaromCore
import CaromPhysics
import CTerminal
import Foundation

/// The input and output of a match on this computer. A game reads its input once per tick and
/// presents each new state.
protocol GameDisplay {
  /// The descriptor that is readable when input has arrived, or nil if the display has no input.
  var inputDescriptor: Int32? { get }

  /// Reads the input that has arrived, and returns the commands in it. Returns nil if no input has
  /// arrived.
  mutating func readCommands(at now: Instant) -> [Controls.Command]?

  /// Returns the first player's input for the next tick, in coordinates in which that player's goal
  /// is on the left. Returns nil if nobody plays at this computer. `mallet` is the current position
  /// of the player's mallet.
  mutating func sampleFirst(mallet: Vector, at now: Instant) -> MalletInput?

  /// Returns the input for the next tick of the second player, who is on the right, or nil if there
  /// is no second player.
  mutating func sampleSecond(mallet: Vector, at now: Instant) -> MalletInput?

  /// Draws a state of the game.
  mutating func present(_ view: TableView)

  /// Writes a line about an event, on displays that show lines.
  mutating func write(_ line: String)

  /// Writes a line that those who run the game need to know, even without a display.
  mutating func warn(_ line: String)

  /// Whether the display writes to a pipe or a socket that nobody reads any more.
  var hasLostReader: Bool { get }

  /// Closes the display and restores the terminal.
  mutating func close()
}

extension GameDisplay {
  var inputDescriptor: Int32? { nil }
  func readCommands(at now: Instant) -> [Controls.Command]? { nil }
  func sampleFirst(mallet: Vector, at now: Instant) -> MalletInput? { nil }
  func sampleSecond(mallet: Vector, at now: Instant) -> MalletInput? { nil }
  func present(_ view: TableView) {}
  func write(_ line: String) {}
  mutating func warn(_ line: String) { write(line) }
  var hasLostReader: Bool { false }
  func close() {}

  /// Returns the input of the player at this computer, mirrored to the side of the player's seat.
  /// Returns nil if there is no player at this computer.
  mutating func input(of seat: Seat, in state: RinkState, at now: Instant) -> MalletInput? {
    let view = seat == .home ? state : state.mirrored
    let input = sampleFirst(mallet: view.homeMallet.vector, at: now)
    return seat == .home ? input : input?.mirrored
  }
}

/// A display that shows nothing and provides no input. Warnings go to standard error.
struct NoDisplay: GameDisplay {
  func warn(_ line: String) { LineDisplay(output: .standardError).write("air-hockey: \(line)") }
}

/// Writes events as lines to a log or a pipe.
struct LineDisplay: GameDisplay {
  let output: FileHandle

  var hasLostReader: Bool { cterminal_reader_gone(output.fileDescriptor) }

  /// Writes a line without the control characters that a peer's name or reason may contain. Drops
  /// the line if writing would block, since a log without a reader must not stop the game.
  func write(_ line: String) {
    guard cterminal_takes(output.fileDescriptor) else { return }
    try? output.write(contentsOf: Data("\(TextWidth.plain(line))\n".utf8))
  }
}
