import CTerminal
import CaromTransport
import Dispatch
import TerminalText

/// The output of the commands: a table that is updated in place if standard output is a terminal,
/// otherwise one line per event; with `--json`, one JSON object per line.
///
/// A separate thread writes, so that a slow reader does not block the program.
final class Output: Sendable {
  /// The format of the output.
  enum Form: Sendable { case table, lines, json }

  /// The minimum interval between two drawings of the table.
  static let drawingInterval = Duration.milliseconds(50)
  /// The maximum amount of unwritten output, in bytes.
  static let queueLimit = 4 << 20
  /// The time limit for writing the remaining output when the program ends.
  static let drainLimit = Duration.seconds(1)

  private struct State {
    var table: LiveTable
    var isDrawingDue = false
    var queuedBytes = 0
    var isClosed = false
    /// Whether the terminal is used for something else.
    var isHeld = false
    var failure: CommandFailure?
  }

  private let form: Form
  private let descriptor: Int32
  private let state: Locked<State>
  private let queue = DispatchQueue(label: "output")
  private let closing = AsyncStream.makeStream(of: Void.self)

  /// Creates an output that writes to standard output, with the given column headings. `json`
  /// selects JSON; otherwise a terminal receives a table if `isTable` is true, and everything else
  /// receives lines.
  convenience init(_ headings: [String], json: Bool, isTable: Bool = true) {
    let form = json ? Form.json : isTable && cterminal_present() ? .table : .lines
    self.init(headings, form, to: 1)
    DispatchQueue(label: "reader").async { [weak self] in
      if cterminal_wait_reader_gone() { self?.close() }
    }
  }

  init(_ headings: [String], _ form: Form, to descriptor: Int32) {
    self.form = form
    self.descriptor = descriptor
    state = Locked(State(table: LiveTable(headings)))
  }

  /// The error that stopped the output, or nil if there was none. A broken pipe is not an error.
  var failure: CommandFailure? { state.withLock { $0.failure } }

  /// Writes a report in the output's format.
  func emit(_ report: Report) {
    state.withLock { state in
      switch form {
      case .json: write(report.json + "\n", &state)
      case .lines:
        let line =
          ([report.mark] + report.cells.map(TextWidth.escaped).filter { !$0.isEmpty })
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

  /// Whether the output shows every step of a progress, rather than one line for each event.
  var showsProgress: Bool { if case .lines = form { false } else { true } }

  /// Leaves the terminal to a question until `release` is called.
  func hold() {
    draw()
    state.withLock { $0.isHeld = true }
  }

  /// Draws the table below what has been written to the terminal since `hold` was called.
  func release() {
    state.withLock { state in
      state.isHeld = false
      state.table.restart()
      state.isDrawingDue = true
    }
    draw()
  }

  private func draw() {
    state.withLock { state in
      guard case .table = form, state.isDrawingDue, !state.isHeld else { return }
      state.isDrawingDue = false
      let size = cterminal_output_size()
      let columns = size.columns == 0 ? 80 : Int(size.columns)
      let rows = size.rows == 0 ? 24 : Int(size.rows)
      write(state.table.drawn(columns: columns, rows: rows), &state)
    }
  }

  private func write(_ text: String, _ state: inout State) {
    guard !state.isClosed else { return }
    let bytes = Array(text.utf8)
    guard state.queuedBytes + bytes.count <= Self.queueLimit else {
      return close(
        &state, CommandFailure(.ioFailed, "the output is not being read: 4 MiB are queued"))
    }
    state.queuedBytes += bytes.count
    queue.async { self.writeToFile(bytes) }
  }

  private func writeToFile(_ bytes: [UInt8]) {
    guard state.withLock({ !$0.isClosed }) else { return }
    do throws(TransportError) {
      try SystemFile.append(bytes, to: descriptor)
      state.withLock { $0.queuedBytes -= bytes.count }
    } catch {
      state.withLock { close(&$0, Self.failure(error)) }
    }
  }

  /// Returns the failure to report for a write error, or nil if the output no longer has a reader,
  /// which is not an error.
  private static func failure(_ error: TransportError) -> CommandFailure? {
    // A pipe without a reader is reported like a reset connection.
    if error == .connectionReset { return nil }
    return CommandFailure(.ioFailed, "the output cannot be written: \(error)")
  }

  private func close() { state.withLock { close(&$0, nil) } }

  private func close(_ state: inout State, _ failure: CommandFailure?) {
    guard !state.isClosed else { return }
    state.isClosed = true
    state.failure = failure
    closing.continuation.finish()
  }

  /// Waits until the output no longer has a reader, or the task is cancelled.
  func untilClosed() async { for await _ in closing.stream {} }

  /// Draws the table if it has changed, and waits until all output is written or the task
  /// is cancelled.
  func drain() async {
    draw()
    let (written, source) = AsyncStream.makeStream(of: Void.self)
    queue.async { source.finish() }
    for await _ in written {}
  }

  /// Calls `drain`, but waits no longer than `drainLimit`.
  func drainSoon() async {
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await self.drain() }
      group.addTask { try? await Task.sleep(for: Self.drainLimit) }
      await group.next()
      group.cancelAll()
    }
  }
}
