import TerminalText

/// A table on a terminal that is drawn over itself.
struct LiveTable: Sendable {
  /// Between two columns.
  private static let gap = "  "

  private let headings: [String]
  /// By what stands in the first column, so that a row stays where people look for it.
  private var rows: [(key: String, cells: [String])] = []
  /// Lines that the last drawing took: the cursor is below them.
  private var height = 0

  init(_ headings: [String]) { self.headings = headings }

  /// Adds, changes or removes a row. What comes from strangers is escaped here.
  mutating func apply(_ report: Report) {
    let index = rows.firstIndex { $0.key == report.key }
    guard !report.event.isEnd else {
      if let index { rows.remove(at: index) }
      return
    }
    let cells = report.cells.map(TextWidth.escaped)
    if let index { rows[index].cells = cells } else { rows.append((report.key, cells)) }
    rows.sort { ($0.cells[0], $0.key) < ($1.cells[0], $1.key) }
  }

  /// What draws the table in place of the last one: at most as many lines as the terminal has,
  /// none longer than it is wide.
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
