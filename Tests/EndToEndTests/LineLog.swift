import CaromTransport
import Foundation

/// The lines that a process has written, for tests that wait for a certain line.
final class LineLog: Sendable {
  /// The prefix of the last line, which is followed by the exit status.
  static let endMark = "\u{1}ended "

  private struct Waiter: Sendable {
    var isWanted: @Sendable (String) -> Bool
    var missing: Int
    var continuation: CheckedContinuation<String?, Never>
  }
  private struct State: Sendable {
    var lines: [String] = []
    var rest = Data()
    var isEnded = false
    var status: Int32?
    var waiters: [Waiter] = []
  }
  private let state = Locked(State())

  /// Appends bytes that were read from the process.
  func append(_ data: Data) {
    state.withLock { state in
      state.rest += data
      while let end = state.rest.firstIndex(of: UInt8(ascii: "\n")) {
        Self.add(String(decoding: state.rest[..<end], as: UTF8.self), to: &state)
        state.rest = Data(state.rest[state.rest.index(after: end)...])
      }
    }
  }

  private static func add(_ line: String, to state: inout State) {
    guard !state.isEnded else { return }
    if line.hasPrefix(endMark) {
      state.status = Int32(line.dropFirst(endMark.count))
      return end(&state)
    }
    state.lines.append(line)
    for index in state.waiters.indices where state.waiters[index].isWanted(line) {
      state.waiters[index].missing -= 1
    }
    for waiter in state.waiters where waiter.missing == 0 {
      waiter.continuation.resume(returning: line)
    }
    state.waiters.removeAll { $0.missing == 0 }
  }

  /// Ends the log. Tests that still wait for a line get nil.
  func end() { state.withLock { Self.end(&$0) } }

  private static func end(_ state: inout State) {
    state.isEnded = true
    for waiter in state.waiters { waiter.continuation.resume(returning: nil) }
    state.waiters = []
  }

  /// Waits for the `number`th line, counted from 1, for which `isWanted` returns true. Returns nil
  /// if the log ends without it.
  func line(
    _ number: Int = 1, where isWanted: @escaping @Sendable (String) -> Bool
  ) async -> String? {
    await withCheckedContinuation { continuation in
      state.withLock { state in
        let found = state.lines.filter(isWanted)
        if found.count >= number {
          continuation.resume(returning: found[number - 1])
        } else if state.isEnded {
          continuation.resume(returning: nil)
        } else {
          state.waiters.append(
            Waiter(
              isWanted: isWanted, missing: number - found.count, continuation: continuation))
        }
      }
    }
  }

  /// The exit status in the last line, once the log has ended; nil if there was none.
  var status: Int32? {
    get async {
      _ = await line { _ in false }
      return state.withLock { $0.status }
    }
  }

  /// All lines, once the log has ended.
  func all() async -> [String] {
    _ = await line { _ in false }
    return state.withLock { $0.lines }
  }
}
