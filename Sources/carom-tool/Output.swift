import CTerminal
import Foundation
import Synchronization
import TerminalText

/// Standard output as the commands use it: a table that is kept up to date where it is a
/// terminal, else lines; with `--json` an object a line.
final class Output: Sendable {
  /// The form that it takes.
  enum Form: Sendable { case table, lines, json }

  /// Between two drawings of the table: what comes meanwhile is drawn together.
  static let drawingInterval = Duration.milliseconds(50)

  private struct State {
    var table: LiveTable
    var isDrawingDue = false
    var isClosed = false
  }

  private let form: Form
  private let file: FileHandle
  private let state: Mutex<State>
  private let closing = AsyncStream.makeStream(of: Void.self)

  /// Rows under these headings; `json` asks for objects.
  convenience init(_ headings: [String], json: Bool) {
    let form = json ? Form.json : cterminal_present() ? .table : .lines
    self.init(headings, form, .standardOutput)
  }

  init(_ headings: [String], _ form: Form, _ file: FileHandle) {
    self.form = form
    self.file = file
    state = Mutex(State(table: LiveTable(headings)))
  }

  /// Tells something.
  func tell(_ report: Report) {
    state.withLock { state in
      switch form {
      case .json: write(report.json + "\n", &state)
      case .lines:
        let line =
          ([report.event.mark] + report.cells.map(TextWidth.escaped).filter { !$0.isEmpty })
        write(line.joined(separator: "  ") + "\n", &state)
      case .table:
        state.table.apply(report)
        guard !state.isDrawingDue else { return }
        state.isDrawingDue = true
        Task {
          try? await Task.sleep(for: Self.drawingInterval)
          self.draw()
        }
      }
    }
  }

  /// Draws what is not drawn yet: the table stays as it is.
  func finish() { draw() }

  private func draw() {
    state.withLock { state in
      guard state.isDrawingDue else { return }
      state.isDrawingDue = false
      let size = cterminal_output_size()
      let columns = size.columns == 0 ? 80 : Int(size.columns)
      let rows = size.rows == 0 ? 24 : Int(size.rows)
      write(state.table.drawn(columns: columns, rows: rows), &state)
    }
  }

  private func write(_ text: String, _ state: inout State) {
    guard !state.isClosed else { return }
    do {
      try file.write(contentsOf: Data(text.utf8))
    } catch {
      state.isClosed = true
      closing.continuation.finish()
    }
  }

  /// Returns when nobody reads it any more, or the task is cancelled.
  func untilClosed() async { for await _ in closing.stream {} }
}
