import CaromTransport
import Foundation

/// The bytes between a stream object of Foundation, which an application uses from its own threads,
/// and the task that carries them over the network. One side adds bytes and the other removes them.
final class StreamBuffer: Sendable {
  /// The maximum number of bytes that wait.
  static let capacity = 64 << 10

  private struct State: Sendable {
    var bytes: [UInt8] = []
    /// No bytes follow those that wait.
    var hasEnded = false
    /// The side that removes bytes wants no more.
    var isClosed = false
    var failure: (any Error)?
    /// Tells the stream object that something has changed.
    var changed: (@Sendable () -> Void)?
  }

  private let state = Locked(State())
  /// Wakes the task that waits for bytes or for room.
  private let wake: AsyncStream<Void>.Continuation
  private let wakes: AsyncStream<Void>
  /// Wakes the thread that waits in a stream object.
  private let condition = NSCondition()

  init() {
    (wakes, wake) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
  }

  /// Sets the closure that is called, on any thread, when the network side has changed something.
  func onChange(_ changed: @escaping @Sendable () -> Void) {
    state.withLock { $0.changed = changed }
  }

  var count: Int { state.withLock { $0.bytes.count } }
  var room: Int { state.withLock { $0.isClosed ? 0 : max(0, Self.capacity - $0.bytes.count) } }
  /// Whether all bytes were removed and none follow.
  var isAtEnd: Bool { state.withLock { $0.hasEnded && $0.bytes.isEmpty } }
  var failure: (any Error)? { state.withLock { $0.failure } }
  var isClosed: Bool { state.withLock { $0.isClosed } }

  // MARK: The application's side

  /// Adds as many of `bytes` as there is room for, and returns their number.
  func add(_ bytes: [UInt8]) -> Int {
    let count = state.withLock { state in
      guard !state.hasEnded, !state.isClosed, state.failure == nil else { return 0 }
      let count = min(bytes.count, Self.capacity - state.bytes.count)
      state.bytes.append(contentsOf: bytes.prefix(count))
      return count
    }
    wake.yield()
    return count
  }

  /// Removes and returns at most `count` bytes.
  func remove(_ count: Int) -> [UInt8] {
    let bytes = state.withLock { state in
      let bytes = Array(state.bytes.prefix(count))
      state.bytes.removeFirst(bytes.count)
      return bytes
    }
    wake.yield()
    return bytes
  }

  /// Blocks the thread until `isDone` returns true or the stream has failed or was closed.
  func block(until isDone: () -> Bool) {
    condition.lock()
    while !isDone(), failure == nil, !isClosed { condition.wait() }
    condition.unlock()
  }

  /// Adds no more bytes.
  func finish() {
    state.withLock { $0.hasEnded = true }
    notify()
    wake.yield()
  }

  /// Removes no more bytes.
  func close() {
    state.withLock { state in
      state.isClosed = true
      state.changed = nil
    }
    notify()
    wake.yield()
  }

  // MARK: The network's side

  /// Waits for bytes and removes them. Returns nil if none follow.
  func waitForBytes() async -> [UInt8]? {
    while true {
      let (bytes, isOver) = state.withLock { state in
        defer { state.bytes = [] }
        return (state.bytes, state.hasEnded || state.failure != nil)
      }
      if !bytes.isEmpty {
        notify()
        return bytes
      }
      if isOver { return nil }
      guard await waitForWake() else { return nil }
    }
  }

  /// Waits until the buffer is not full, and adds all of `bytes`, even if that exceeds the
  /// capacity. Returns false if the application has closed the stream.
  func waitAndAdd(_ bytes: [UInt8]) async -> Bool {
    while !isClosed {
      let isAdded = state.withLock { state in
        guard state.bytes.count < Self.capacity else { return false }
        state.bytes.append(contentsOf: bytes)
        return true
      }
      if isAdded {
        notify()
        return true
      }
      guard await waitForWake() else { return false }
    }
    return false
  }

  /// The stream has failed.
  func fail(_ error: any Error) {
    state.withLock { state in
      if state.failure == nil { state.failure = error }
    }
    notify()
  }

  private func waitForWake() async -> Bool {
    for await _ in wakes { return true }
    return false
  }

  private func notify() {
    condition.lock()
    condition.broadcast()
    condition.unlock()
    state.withLock { $0.changed }?()
  }
}
