import CaromTransport
import Dispatch
import TerminalText

/// Asks the person at the terminal, one question at a time.
final class Questions: Sendable {
  private let output: Output
  /// The last question, after which the next one is asked.
  private let last = Locked<Task<Bool, Never>?>(nil)

  init(_ output: Output) { self.output = output }

  /// Whether there is somebody to ask.
  static var isPossible: Bool { SystemFile.isTerminal(0) && SystemFile.isTerminal(2) }

  /// Asks a question that is answered with yes or no. Anything but a yes is a no, as is the end of
  /// the input or the task's cancellation.
  func ask(_ question: String) async -> Bool {
    let task = last.withLock { last in
      let earlier = last
      let task = Task {
        _ = await earlier?.value
        return await self.askNow(question)
      }
      last = task
      return task
    }
    return await withTaskCancellationHandler {
      await task.value
    } onCancel: {
      task.cancel()
    }
  }

  private func askNow(_ question: String) async -> Bool {
    guard !Task.isCancelled else { return false }
    output.hold()
    defer { output.release() }
    let text = "\(TextWidth.escaped(question)) [y/N] "
    try? SystemFile.append(Array(text.utf8), to: 2)
    let (lines, source) = AsyncStream.makeStream(of: String.self)
    DispatchQueue(label: "question").async {
      source.yield(Self.line())
      source.finish()
    }
    for await line in lines { return ["y", "yes"].contains(line.lowercased()) }
    return false
  }

  /// Reads a line of at most 64 bytes from standard input.
  private static func line() -> String {
    var line: [UInt8] = []
    while line.count < 64, let byte = SystemFile.bytes(from: 0, atMost: 1)?.first,
      byte != UInt8(ascii: "\n")
    {
      line.append(byte)
    }
    return String(decoding: line, as: UTF8.self).filter { !$0.isWhitespace }
  }
}
