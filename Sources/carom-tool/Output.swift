import CTerminal
import Foundation
import Synchronization
import TerminalText

/// Standard output as the commands use it: a table that is kept up to date where it is a
/// terminal, else lines; with `--json` an object a line.
///
/// A thread of its own writes, so that a reader who does not read holds nothing else up.
final class Output: Sendable {
  /// The form that it takes.
  enum Form: Sendable { case table, lines, json }

  /// Between two drawings of the table: what comes meanwhile is drawn together.
  static let drawingInterval = Duration.milliseconds(50)
  /// Bytes that may wait for a reader.
  static let waitingLimit = 4 << 20
  /// How long the last lines may take, once the end was asked for.
  static let patience = Duration.seconds(1)

  private struct State {
    var table: LiveTable
    var isDrawingDue = false
    var waiting = 0
    var isClosed = false
    var failure: CommandFailure?
  }

  private let form: Form
  private let file: FileHandle
  private let state: Mutex<State>
  private let queue = DispatchQueue(label: "output")
  private let closing = AsyncStream.makeStream(of: Void.self)

  /// Rows under these headings; `json` asks for objects.
  convenience init(_ headings: [String], json: Bool) {
    let form = json ? Form.json : cterminal_present() ? .table : .lines
    self.init(headings, form, .standardOutput)
    Thread.detachNewThread { [weak self] in
      if cterminal_wait_reader_gone() { self?.close() }
    }
  }

  init(_ headings: [String], _ form: Form, _ file: FileHandle) {
    self.form = form
    self.file = file
    state = Mutex(State(table: LiveTable(headings)))
  }

  /// Why it could not be written, where that was not because its reader left.
  var failure: CommandFailure? { state.withLock { $0.failure } }

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
    let bytes = Data(text.utf8)
    guard state.waiting + bytes.count <= Self.waitingLimit else {
      return close(&state, CommandFailure(.outputFailed, "nobody reads the output: 4 MiB wait"))
    }
    state.waiting += bytes.count
    queue.async { self.put(bytes) }
  }

  private func put(_ bytes: Data) {
    guard state.withLock({ !$0.isClosed }) else { return }
    let failure: CommandFailure?
    do {
      try file.write(contentsOf: bytes)
      return state.withLock { $0.waiting -= bytes.count }
    } catch {
      failure = Self.failure(error)
    }
    state.withLock { close(&$0, failure) }
  }

  /// `nil` where the reader left, which is no fault.
  private static func failure(_ error: any Error) -> CommandFailure? {
    let cause = (error as NSError).userInfo[NSUnderlyingErrorKey] as? NSError ?? error as NSError
    guard cause.domain == NSPOSIXErrorDomain, cause.code == Int(EPIPE) else {
      return CommandFailure(
        .outputFailed, "the output cannot be written: \(cause.localizedDescription)")
    }
    return nil
  }

  private func close() { state.withLock { close(&$0, nil) } }

  private func close(_ state: inout State, _ failure: CommandFailure?) {
    guard !state.isClosed else { return }
    state.isClosed = true
    state.failure = failure
    closing.continuation.finish()
  }

  /// Returns when nobody reads it any more, or the task is cancelled.
  func untilClosed() async { for await _ in closing.stream {} }

  /// Draws what is not drawn yet, and returns when all is written, or the task is cancelled.
  func drain() async {
    draw()
    let (written, source) = AsyncStream.makeStream(of: Void.self)
    queue.async { source.finish() }
    for await _ in written {}
  }

  /// The same, though not for long.
  func drainSoon() async {
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await self.drain() }
      group.addTask { try? await Task.sleep(for: Self.patience) }
      await group.next()
      group.cancelAll()
    }
  }
}
