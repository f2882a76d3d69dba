import Foundation

/// A benchmark's results: a table for people or one JSON object on one line for machines.
struct Report: Encodable {
  /// A measured value.
  struct Figure: Encodable {
    var name: String
    var value: Double
    var unit: String

    init(_ name: String, _ value: Double, _ unit: String = "") {
      self.name = name
      self.value = value
      self.unit = unit
    }
  }

  /// One subject and its figures; rows with the same figures share their columns.
  struct Row: Encodable {
    var name: String
    var figures: [Figure]
  }

  /// The command, as in "bench step".
  var title: String
  var rows: [Row] = []
  /// What was not met or could not be measured; empty where all is well.
  var remarks: [String] = []
  /// The figures that have a goal; `nil` where the benchmark has none.
  var goals: [DiscoveryGoal]?
  /// The same of sessions.
  var sessionGoals: [SessionGoal]?
  /// The machine's line.
  var machine = ""
  /// Whether the table has a line for each figure and a column for each row.
  var standsUpright = false
  /// Before which rows a table of its own begins.
  var breaks: [Int] = []

  private enum CodingKeys: CodingKey { case title, rows, goals, sessionGoals, remarks, machine }

  mutating func add(_ name: String, _ figures: Figure...) {
    rows.append(Row(name: name, figures: figures))
  }

  /// What is added from now on stands in a table of its own, for other figures.
  mutating func beginTable() { breaks.append(rows.count) }

  /// Prints the report to standard output.
  func print(json: Bool) {
    if json {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
      encoder.nonConformingFloatEncodingStrategy = .convertToString(
        positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
      Swift.print(String(decoding: (try? encoder.encode(self)) ?? Data(), as: UTF8.self))
      return
    }
    Swift.print(title)
    for (start, end) in zip([0] + breaks, breaks + [rows.count]) where start < end {
      for line in table(of: rows[start..<end]) { Swift.print("  " + line) }
    }
    for goal in goals ?? [] { Swift.print(goal.line) }
    for goal in sessionGoals ?? [] { Swift.print(goal.line) }
    for remark in remarks { Swift.print(remark) }
    #if DEBUG
      Swift.print("This is a debug build: measure with swift run -c release bench.")
    #endif
    Swift.print(machine)
  }

  /// A table's lines: a heading, then the rows; numbers stand on the right.
  private func table(of rows: ArraySlice<Row>) -> [String] {
    var columns: [String] = []
    for row in rows {
      for figure in row.figures where !columns.contains(figure.heading) {
        columns.append(figure.heading)
      }
    }
    var cells = [[""] + columns]
    for row in rows {
      cells.append(
        [row.name]
          + columns.map { column in
            row.figures.first { $0.heading == column }.map { Self.text($0.value) } ?? ""
          })
    }
    if standsUpright { cells = cells[0].indices.map { column in cells.map { $0[column] } } }
    let widths = cells[0].indices.map { column in cells.map { $0[column].count }.max() ?? 0 }
    return cells.map { row in
      zip(row, widths).enumerated().map { index, cell in
        let space = String(repeating: " ", count: cell.1 - cell.0.count)
        return index == 0 ? cell.0 + space : space + cell.0
      }.joined(separator: "  ")
    }
  }

  /// Four digits, thousands apart.
  static func text(_ value: Double) -> String {
    guard value.isFinite else { return "-" }
    if value == value.rounded(), value.magnitude < 1_000 { return String(Int(value)) }
    let digits = max(0, 3 - Int(log10(max(value.magnitude, 1e-9)).rounded(.down)))
    let plain = String(format: "%.\(min(digits, 6))f", value)
    let parts = plain.split(separator: ".", maxSplits: 1)
    var whole = String(parts[0])
    var at = whole.count - 3
    while at > (whole.hasPrefix("-") ? 1 : 0) {
      whole.insert(" ", at: whole.index(whole.startIndex, offsetBy: at))
      at -= 3
    }
    return parts.count > 1 ? whole + "." + parts[1] : whole
  }
}

extension Report.Figure {
  /// Name and unit.
  var heading: String { unit.isEmpty ? name : "\(name), \(unit)" }
}

/// The middle value; the mean of the middle two where the count is even.
func median(_ values: [Double]) -> Double {
  let sorted = values.sorted()
  guard !sorted.isEmpty else { return .nan }
  let middle = sorted.count / 2
  return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

/// Tells how far a long run is, on standard error.
func progress(_ text: String) {
  FileHandle.standardError.write(Data("\(text)\n".utf8))
}
