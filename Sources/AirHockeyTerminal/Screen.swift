/// The cells of a whole terminal, which show pixels as half blocks, with text over the pixels.
package struct Screen: Hashable, Sendable {
  /// The number of cells in a row.
  package let columns: Int
  /// The number of rows of cells.
  package let rows: Int
  private(set) var cells: [Cell]

  /// Creates a screen of blanks on the background `color`.
  package init(columns: Int, rows: Int, filledWith color: Color = Color(0, 0, 0)) {
    precondition(columns > 0 && rows > 0, "a screen has at least one cell")
    self.columns = columns
    self.rows = rows
    cells = Array(repeating: Cell(" ", color, on: color), count: columns * rows)
  }

  /// Creates a screen that shows a canvas, two pixels per cell. If the canvas has an odd number of
  /// rows, the last row is omitted.
  package init(_ canvas: Canvas) {
    columns = canvas.width
    rows = canvas.height / 2
    cells = []
    cells.reserveCapacity(columns * rows)
    for row in 0..<rows {
      for column in 0..<columns {
        let (upper, lower) = (canvas[column, 2 * row], canvas[column, 2 * row + 1])
        cells.append(Cell(upper == lower ? " " : Cell.halfBlock, upper, on: lower))
      }
    }
  }

  /// Accesses the cell at a column and row, both of which must be on the screen.
  package subscript(column: Int, row: Int) -> Cell {
    get { cells[row * columns + column] }
    set { cells[row * columns + column] = newValue }
  }

  /// Writes text that starts at `column` and is truncated at the end of the row.
  package mutating func write(
    _ text: some StringProtocol, column: Int, row: Int, _ color: Color, on ground: Color? = nil,
    isBold: Bool = false
  ) {
    guard (0..<rows).contains(row) else { return }
    var place = column
    for scalar in text.unicodeScalars {
      let width = TextWidth.columns(of: scalar)
      guard width > 0 else { continue }
      guard place + width <= columns else { return }
      defer { place += width }
      guard place >= 0 else { continue }
      let under = ground ?? self[place, row].ground
      for (offset, glyph) in [scalar, Cell.tail].prefix(width).enumerated() {
        self[place + offset, row] = Cell(glyph, color, on: under, isBold: isBold)
      }
    }
  }

  /// Writes text centered in the columns of `range`.
  package mutating func writeCentered(
    _ text: some StringProtocol, in range: Range<Int>, row: Int, _ color: Color,
    on ground: Color? = nil, isBold: Bool = false
  ) {
    let start = range.lowerBound + (range.count - TextWidth.columns(of: text)) / 2
    write(text, column: start, row: row, color, on: ground, isBold: isBold)
  }

  /// The screen's characters as text, one line per row without trailing blanks, for tests and logs.
  package var text: String {
    (0..<rows).map { row in
      var line = String.UnicodeScalarView()
      for column in 0..<columns where self[column, row].glyph != Cell.tail {
        line.append(self[column, row].glyph)
      }
      return String(String(line).reversed().drop { $0 == " " }.reversed())
    }.joined(separator: "\n")
  }
}

extension Cell {
  /// The background color for text that is written over this cell.
  var ground: Color {
    glyph == Cell.halfBlock ? foreground.mixed(with: background, 0.5) : background
  }
}
