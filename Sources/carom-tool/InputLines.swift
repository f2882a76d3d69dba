import CaromTransport
import Dispatch

/// The lines of standard input, for one reader after another.
///
/// A line is read from the file only when somebody waits for one. A thread of its own reads, since
/// reading blocks. A line that arrives when its reader has stopped waiting is kept for the next.
final class InputLines: Sendable {
  private struct State: Sendable {
    var reader: AsyncStream<String>.Continuation?
    var isReading = false
    var kept: String?
    var hasEnded = false
  }

  private let state = Locked(State())
  private let queue = DispatchQueue(label: "input")

  /// Waits for the next line, without its end. Returns nil at the end of the input or when the task
  /// is cancelled.
  func next() async -> String? {
    guard !Task.isCancelled else { return nil }
    let (lines, reader) = AsyncStream.makeStream(of: String.self)
    state.withLock { state in
      if let line = state.kept {
        state.kept = nil
        reader.yield(line)
      } else if state.hasEnded {
        reader.finish()
      } else {
        state.reader = reader
        guard !state.isReading else { return }
        state.isReading = true
        queue.async { self.deliver(readLine()) }
      }
    }
    for await line in lines { return line }
    return nil
  }

  private func deliver(_ line: String?) {
    state.withLock { state in
      state.isReading = false
      let reader = state.reader
      state.reader = nil
      if let line {
        if case .enqueued? = reader?.yield(line) { return }
        state.kept = line
      } else {
        state.hasEnded = true
        reader?.finish()
      }
    }
  }
}
