import Foundation
import Synchronization

/// The lines that a process writes, for tests that wait for one of them.
final class LineLog: Sendable {
  /// Begins the last line, which ends with the status.
  static let endMark = "\u{1}ended "

  private struct Waiter {
    var isWanted: @Sendable (String) -> Bool
    var missing: Int
    var continuation: CheckedContinuation<String?, Never>
  }
  private struct State {
    var lines: [String] = []
    var rest = Data()
    var isEnded = false
    var status: Int32?
    var waiters: [Waiter] = []
  }
  private let state = Mutex(State())

  /// Takes what was read.
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

  /// No more lines are waited for.
  func end() { state.withLock { Self.end(&$0) } }

  private static func end(_ state: inout State) {
    state.isEnded = true
    for waiter in state.waiters { waiter.continuation.resume(returning: nil) }
    state.waiters = []
  }

  /// The `number`th line that `isWanted`, counted from 1, as soon as there is one; `nil` when
  /// the lines end without it.
  func line(
    _ number: Int = 1, where isWanted: @escaping @Sendable (String) -> Bool
  ) async -> String? {
    await withCheckedContinuation { continuation in
      state.withLock { state in
        let met = state.lines.filter(isWanted)
        if met.count >= number {
          continuation.resume(returning: met[number - 1])
        } else if state.isEnded {
          continuation.resume(returning: nil)
        } else {
          state.waiters.append(
            Waiter(
              isWanted: isWanted, missing: number - met.count, continuation: continuation))
        }
      }
    }
  }

  /// The status that the last line told, once the lines have ended.
  var status: Int32? {
    get async {
      _ = await line { _ in false }
      return state.withLock { $0.status }
    }
  }

  /// All lines, once they have ended.
  func all() async -> [String] {
    _ = await line { _ in false }
    return state.withLock { $0.lines }
  }
}
