import AirHockeyTerminal

/// A terminal that understands only the sequences that `ScreenEncoder` sends. All others are
/// errors.
struct TerminalDouble {
  enum Failure: Error { case unexpected(String) }

  private(set) var screen: Screen
  private var column = 0
  private var row = 0
  private var ink = Color(0, 0, 0)
  private var ground = Color(0, 0, 0)
  private var isBold = false

  init(columns: Int, rows: Int) { screen = Screen(columns: columns, rows: rows) }

  mutating func feed(_ bytes: [UInt8]) throws {
    var rest = String(decoding: bytes, as: UTF8.self).unicodeScalars[...]
    while let next = rest.popFirst() {
      if next == "\u{1B}" {
        guard rest.popFirst() == "[" else { throw Failure.unexpected("no control sequence") }
        let parameters = rest.prefix { $0.value < 0x40 }
        rest = rest.dropFirst(parameters.count)
        try control(String(parameters), rest.popFirst() ?? " ")
      } else {
        write(next)
      }
    }
  }

  private mutating func write(_ glyph: Unicode.Scalar) {
    let cell = Cell(glyph, glyph == " " ? ground : ink, on: ground, isBold: isBold)
    screen[column, row] = cell
    column += 1
    guard TextWidth.columns(of: glyph) == 2 else { return }
    screen[column, row] = Cell(Cell.tail, cell.foreground, on: ground, isBold: isBold)
    column += 1
  }

  private mutating func control(_ parameters: String, _ final: Unicode.Scalar) throws {
    let numbers = parameters.split(separator: ";").map { Int($0) ?? -1 }
    switch (final, numbers) {
    case ("h", _), ("l", _):
      guard parameters == "?2026" else { throw Failure.unexpected(parameters) }
    case ("J", [2]): screen = Screen(columns: screen.columns, rows: screen.rows)
    case ("H", _) where numbers.count == 2: (row, column) = (numbers[0] - 1, numbers[1] - 1)
    case ("m", [0]): (isBold, ink, ground) = (false, Color(0, 0, 0), Color(0, 0, 0))
    case ("m", [1]): isBold = true
    case ("m", [22]): isBold = false
    case ("m", _) where numbers.count == 5 && numbers[1] == 2:
      let color = Color(UInt8(numbers[2]), UInt8(numbers[3]), UInt8(numbers[4]))
      if numbers[0] == 38 { ink = color } else { ground = color }
    default: throw Failure.unexpected("\(parameters)\(final)")
    }
  }
}
