import CaromPhysics

// This file paints text: names and score at the top, the status line at the bottom, banners in the
// middle.
extension TablePainter {
  private func darken(_ layout: Layout, on canvas: inout Canvas) {
    let size = Vector(Double(layout.columns), Double(2 * layout.rows - 2))
    canvas.paint(from: Vector(0, 2), to: size, Palette.backdrop) { _ in 0.55 }
  }

  /// Darkens the table and draws the code in the middle, one pixel for each module. Returns the row
  /// below the code, or nil without drawing if the code does not fit between the names and the
  /// status line together with a line of text. The colors are those of print, which all readers
  /// know, whatever the colors of the terminal are.
  func paintCode(_ code: QRCode, _ layout: Layout, on canvas: inout Canvas) -> Int? {
    let side = code.size + 2 * QRCode.quietZone
    let rows = (side + 1) / 2
    guard side <= layout.columns, rows <= layout.rows - 3 else { return nil }
    darken(layout, on: &canvas)
    let top = 1 + (layout.rows - 3 - rows) / 2
    let left = (layout.columns - side) / 2
    for y in 0..<2 * rows {
      for x in 0..<side {
        let isDark = code[x - QRCode.quietZone, y - QRCode.quietZone]
        canvas[left + x, 2 * top + y] = isDark ? Palette.black : Palette.white
      }
    }
    return top + rows
  }

  /// Darkens the table and writes the title as large as possible. Returns the row below the title.
  func paintBanner(_ banner: TableView.Banner, _ layout: Layout, on canvas: inout Canvas) -> Int {
    darken(layout, on: &canvas)
    let title = banner.title.uppercased()
    let needed = max(1, PixelFont.columns(of: title))
    let scale = min(layout.columns * 4 / 5 / needed, (layout.rows - 4) / PixelFont.height)
    guard scale >= 1 else { return layout.rows / 2 }
    canvas.write(
      title, around: Vector(Double(layout.columns) / 2, Double(layout.rows)), size: scale,
      Palette.player(banner.side), strength: 1)
    return (layout.rows + PixelFont.height * scale / 2) / 2 + 2
  }

  /// Writes the parts of a banner that are plain text: the detail, and the title if it is too long
  /// for large letters. `row` is the row below the large title.
  func write(_ banner: TableView.Banner, below row: Int, on screen: inout Screen) {
    let all = 0..<screen.columns
    if row == screen.rows / 2 {
      let title = TextWidth.fitting(banner.title, screen.columns - 2)
      let color = Palette.player(banner.side)
      screen.writeCentered(title, in: all, row: row - 1, color, isBold: true)
    }
    let detail = TextWidth.fitting(banner.detail, screen.columns - 2)
    screen.writeCentered(detail, in: all, row: min(row, screen.rows - 2), Palette.text)
  }

  func writeNames(_ view: TableView, on screen: inout Screen) {
    let score = "\(view.left.score) – \(view.right.score)"
    let room = (screen.columns - TextWidth.columns(of: score) - 8) / 2
    let left = "● " + TextWidth.fitting(view.left.name, room - 2)
    let right = TextWidth.fitting(view.right.name, room - 2) + " ●"
    screen.fillRow(0, Palette.railDark)
    screen.write(left, column: 1, row: 0, Palette.left, isBold: true)
    let start = screen.columns - 1 - TextWidth.columns(of: right)
    screen.write(right, column: start, row: 0, Palette.right, isBold: true)
    screen.writeCentered(score, in: 0..<screen.columns, row: 0, Palette.white, isBold: true)
  }

  /// Writes the status line. If the status and the hint do not both fit, the last parts of the
  /// status are omitted. If the status must be written whole, or if the screen is too narrow for
  /// the hint, the hint is omitted instead.
  func writeStatus(_ view: TableView, on screen: inout Screen) {
    let row = screen.rows - 1
    screen.fillRow(row, Palette.railDark)
    let hint = TextWidth.columns(of: view.hint)
    let room = screen.columns - hint - 4
    let whole = TextWidth.fitting(view.status, screen.columns - 2)
    let status = view.isStatusWhole || room < 0 ? whole : Self.shortened(view.status, to: room)
    screen.write(status, column: 1, row: row, Palette.text)
    let used = status.isEmpty ? 0 : TextWidth.columns(of: status) + 2
    let start = screen.columns - 1 - hint
    if start > used { screen.write(view.hint, column: start, row: row, Palette.dim) }
  }

  /// Returns `text` without as many of its last parts as necessary for it to fit into `columns`
  /// columns. The parts are separated by dots.
  private static func shortened(_ text: String, to columns: Int) -> String {
    var parts = text.split(separator: " · ")
    while !parts.isEmpty, TextWidth.columns(of: parts.joined(separator: " · ")) > columns {
      parts.removeLast()
    }
    return parts.joined(separator: " · ")
  }
}

extension Screen {
  /// Fills a row with blanks on the given background color.
  mutating func fillRow(_ row: Int, _ color: Color) {
    for column in 0..<columns { self[column, row] = Cell(" ", color, on: color) }
  }
}

extension Canvas {
  /// Writes text in `PixelFont`, centered at a point. Each of the font's pixels becomes a square of
  /// `size` pixels.
  mutating func write(
    _ text: String, around middle: Vector, size: Int, _ color: Color, strength: Double
  ) {
    let left = Int(middle.x) - PixelFont.columns(of: text) * size / 2
    let top = Int(middle.y) - PixelFont.height * size / 2
    for (place, letter) in text.enumerated() {
      for (row, bits) in PixelFont.rows(of: letter).enumerated() {
        for column in 0..<PixelFont.width where bits >> (4 - column) & 1 == 1 {
          let x = left + (place * PixelFont.advance + column) * size
          let y = top + row * size
          fill(x..<x + size, y..<y + size, color, strength)
        }
      }
    }
  }

  private mutating func fill(_ xs: Range<Int>, _ ys: Range<Int>, _ color: Color, _ share: Double) {
    for y in ys.clamped(to: 0..<height) {
      for x in xs.clamped(to: 0..<width) { self[x, y] = self[x, y].mixed(with: color, share) }
    }
  }
}
