/// Encodes the difference between the last screen and the next as bytes for the terminal: only the
/// cells that changed, within one synchronized update.
package struct ScreenEncoder: Sendable {
  private let depth: ColorDepth
  private var shown: [EncodedCell] = []
  private var columns = 0
  private var style: EncodedCell?

  /// Creates an encoder for a terminal whose contents are unknown.
  package init(depth: ColorDepth) { self.depth = depth }

  /// Discards the last screen, so that the next one is encoded completely.
  package mutating func reset() { shown = [] }

  /// Returns the bytes that make the terminal show `screen`, or an empty array if nothing changed.
  package mutating func encode(_ screen: Screen) -> [UInt8] {
    let next = screen.cells.map { EncodedCell($0, depth) }
    var body: [UInt8] = []
    if shown.count != next.count || columns != screen.columns {
      shown = []
      columns = screen.columns
      style = nil
      body += Array("\u{1B}[0m\u{1B}[2J".utf8)
    }
    for row in 0..<screen.rows { encodeRow(row, next, &body) }
    shown = next
    guard !body.isEmpty else { return [] }
    return Array("\u{1B}[?2026h".utf8) + body + Array("\u{1B}[?2026l".utf8)
  }

  private mutating func encodeRow(_ row: Int, _ next: [EncodedCell], _ output: inout [UInt8]) {
    var cursor = -1
    for column in 0..<columns {
      let index = row * columns + column
      let cell = next[index]
      guard shown.isEmpty || shown[index] != cell else { continue }
      if cell.glyph == Cell.tail { continue }
      if cursor != column { move(to: column, row, &output) }
      write(cell, &output)
      let isWide = column + 1 < columns && next[index + 1].glyph == Cell.tail
      cursor = column + (isWide ? 2 : 1)
    }
  }

  private func move(to column: Int, _ row: Int, _ output: inout [UInt8]) {
    output += [0x1B, 0x5B]
    append(row + 1, &output)
    output.append(0x3B)
    append(column + 1, &output)
    output.append(0x48)
  }

  private mutating func write(_ cell: EncodedCell, _ output: inout [UInt8]) {
    if style?.isBold != cell.isBold || style == nil {
      output += Array((cell.isBold ? "\u{1B}[1m" : "\u{1B}[22m").utf8)
    }
    // A blank has no visible foreground, so the current foreground color can stay.
    let showsForeground = cell.glyph != " "
    if showsForeground, style?.foreground != cell.foreground {
      setColor(cell.foreground, ground: false, &output)
    }
    if style?.background != cell.background { setColor(cell.background, ground: true, &output) }
    let foreground = showsForeground ? cell.foreground : style?.foreground
    style = EncodedCell(cell, foreground: foreground ?? EncodedCell.noColor)
    output += Array(String(cell.glyph).utf8)
  }

  private func setColor(_ color: UInt32, ground: Bool, _ output: inout [UInt8]) {
    guard color != EncodedCell.noColor else { return }
    output += Array((ground ? "\u{1B}[48;" : "\u{1B}[38;").utf8)
    if depth == .palette {
      output += Array("5;".utf8)
      append(Int(color), &output)
    } else {
      output += Array("2;".utf8)
      append(Int(color >> 16), &output)
      output.append(0x3B)
      append(Int(color >> 8 & 0xFF), &output)
      output.append(0x3B)
      append(Int(color & 0xFF), &output)
    }
    output.append(0x6D)
  }

  private func append(_ number: Int, _ output: inout [UInt8]) {
    if number >= 10 { append(number / 10, &output) }
    output.append(UInt8(48 + number % 10))
  }
}
