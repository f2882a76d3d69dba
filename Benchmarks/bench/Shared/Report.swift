import Foundation

/// The results of a benchmark, printed either as tables or as one JSON object on one line.
struct Report: Encodable {
  /// A measured value with its name and unit.
  struct Figure: Encodable {
    var name: String
    var value: Double
    var unit: String
    /// The heading of the figure's column without the unit, where the name in JSON is too terse.
    private var title: String?

    private enum CodingKeys: CodingKey { case name, value, unit }

    init(_ name: String, _ value: Double, _ unit: String = "", heading title: String? = nil) {
      self.name = name
      self.value = value
      self.unit = unit
      self.title = title
    }

    /// The heading of the figure's column, with the unit.
    var heading: String { unit.isEmpty ? title ?? name : "\(title ?? name), \(unit)" }
  }

  /// The figures of one subject. Rows that share a figure share its column in the table.
  struct Row: Encodable {
    var name: String
    var figures: [Figure]
    /// The row's name in printed tables, where the name in JSON is too terse.
    var title: String?

    private enum CodingKeys: CodingKey { case name, figures }

    init(name: String, title: String? = nil, figures: [Figure]) {
      self.name = name
      self.title = title
      self.figures = figures
    }
  }

  /// A warning for commands that compare counts with thresholds.
  static let debugBuildWarning =
    "This is a debug build, which allocates more: check the counts with swift run -c release bench."

  /// The title line, which starts with the command, as in "bench step".
  var title: String
  /// What the figures mean in a sentence or two, printed below the title.
  var summary: [String] = []
  var rows: [Row] = []
  /// Notes on missed limits and on measurements that failed. Empty if there are none.
  var remarks: [String] = []
  /// The goals of the discovery benchmark, or `nil` in the other benchmarks.
  var goals: [DiscoveryGoal]?
  /// The goals of every other benchmark, or `nil` if it has none.
  var sessionGoals: [BenchmarkGoal]?
  /// The line that describes the machine; see `Machine.line`.
  var machine = ""
  /// Whether the table is transposed: one line for each figure, one column for each row.
  var isTransposed = false
  /// The indexes of the rows at which a new table begins.
  var breaks: [Int] = []

  private enum CodingKeys: CodingKey {
    case title, summary, rows, goals, sessionGoals, remarks, machine
  }

  mutating func add(_ name: String, title: String? = nil, _ figures: Figure...) {
    add(name, title: title, figures)
  }

  mutating func add(_ name: String, title: String? = nil, _ figures: [Figure]) {
    rows.append(Row(name: name, title: title, figures: figures))
  }

  /// Starts a new table, with columns of its own, for the rows that are added after this call.
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
    for line in summary { Swift.print(line) }
    for (start, end) in zip([0] + breaks, breaks + [rows.count]) where start < end {
      for line in table(of: rows[start..<end]) { Swift.print("  " + line) }
    }
    for goal in goals ?? [] { Swift.print(goal.line) }
    for goal in sessionGoals ?? [] { Swift.print(goal.line) }
    for remark in remarks { Swift.print(remark) }
    #if DEBUG
      Swift.print("This is a debug build. For meaningful times run: swift run -c release bench")
    #endif
    Swift.print(machine)
  }

  /// Returns the lines of one table: a line of headings, then the rows. Numbers are aligned to the
  /// right.
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
        [row.title ?? row.name]
          + columns.map { column in
            row.figures.first { $0.heading == column }.map { Self.text($0.value) } ?? ""
          })
    }
    if isTransposed { cells = cells[0].indices.map { column in cells.map { $0[column] } } }
    let widths = cells[0].indices.map { column in cells.map { $0[column].count }.max() ?? 0 }
    return cells.map { row in
      zip(row, widths).enumerated().map { index, cell in
        let space = String(repeating: " ", count: cell.1 - cell.0.count)
        return index == 0 ? cell.0 + space : space + cell.0
      }.joined(separator: "  ")
    }
  }

  /// Formats a number with four significant digits and a space before each group of three.
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

/// Returns the median: the middle value, or the mean of the two middle values if their number is
/// even. The result is `nan` if there are no values.
func median(_ values: [Double]) -> Double {
  let sorted = values.sorted()
  guard !sorted.isEmpty else { return .nan }
  let middle = sorted.count / 2
  return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

/// Prints the progress of a long run to standard error.
func progress(_ text: String) {
  FileHandle.standardError.write(Data("\(text)\n".utf8))
}
