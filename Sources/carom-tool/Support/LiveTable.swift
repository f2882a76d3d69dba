import TerminalText

/// A table that is redrawn in place on a terminal.
struct LiveTable: Sendable {
  /// The separator between columns.
  private static let gap = "  "

  private let headings: [String]
  /// The rows, sorted by their first column, so that a row keeps its position when it changes.
  private var rows: [(key: String, cells: [String])] = []
  /// The number of lines that were last drawn. The cursor is below them.
  private var height = 0

  init(_ headings: [String]) { self.headings = headings }

  /// Adds, changes or removes a row. Escapes the cells, since their text comes from the network.
  mutating func apply(_ report: Report) {
    let index = rows.firstIndex { $0.key == report.key }
    guard !report.event.removesRow else {
      if let index { rows.remove(at: index) }
      return
    }
    let cells = report.cells.map(TextWidth.escaped)
    if let index { rows[index].cells = cells } else { rows.append((report.key, cells)) }
    rows.sort { ($0.cells[0], $0.key) < ($1.cells[0], $1.key) }
  }

  /// Forgets what was drawn, so that the table is drawn again below it.
  mutating func restart() { height = 0 }

  /// Returns the text that replaces the table that was drawn last with the current one, on a
  /// terminal with `columns` columns and `limit` rows.
  mutating func drawn(columns: Int, rows limit: Int) -> String {
    let room = max(1, limit - 3)
    let shown = rows.prefix(rows.count > room ? room - 1 : room)
    var lines = layout([headings] + shown.map(\.cells), columns: columns - 1)
    if shown.count < rows.count { lines.append("… and \(rows.count - shown.count) more") }
    defer { height = lines.count }
    let home = height == 0 ? "" : "\u{1B}[\(height)F\u{1B}[0J"
    return home + lines.map { $0 + "\n" }.joined()
  }

  private func layout(_ rows: [[String]], columns: Int) -> [String] {
    let widths = headings.indices.map { column in
      rows.map { TextWidth.columns(of: $0[column]) }.max() ?? 0
    }
    return rows.map { row in
      let cells = zip(row, widths).map { cell, width in
        cell + String(repeating: " ", count: width - TextWidth.columns(of: cell))
      }
      let line = cells.joined(separator: Self.gap)
      return TextWidth.fitting(String(line.reversed().drop { $0 == " " }.reversed()), columns)
    }
  }
}
