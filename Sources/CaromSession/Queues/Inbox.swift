import CaromCore
import Synchronization

/// The way from the loop to one reader on any thread: a bounded queue that can be waited on, and
/// asked.
final class Inbox<Element: Sendable>: Sendable {
  /// What happens to an element that finds the queue full.
  enum Overflow: Sendable {
    /// The sender is to wait: `push` says so, and `onRoom` is called at half.
    case pause
    /// The oldest goes.
    case dropOldest
    /// The first that the new one makes stale goes; without one the queue grows.
    case replace(@Sendable (_ old: Element, _ new: Element) -> Bool)
  }

  private struct Waiting: Sendable {
    let element: Element
    let bytes: Int
  }

  private struct State: Sendable {
    var elements = Deque<Waiting>()
    var bytes = 0
    var reader: CheckedContinuation<Element?, Never>?
    var isPaused = false
    var isFinished = false
    /// The reader's task was cancelled before it could wait.
    var isCancelled = false
    var dropped: UInt64 = 0
  }

  /// The most elements that wait, and the most bytes of those that the sender can be made to wait
  /// for: one more may come over it.
  let limit: Int
  let byteLimit: Int
  private let overflow: Overflow
  private let onRoom: @Sendable () -> Void
  private let state = Mutex(State())

  init(
    limit: Int, byteLimit: Int = .max, overflow: Overflow,
    onRoom: @escaping @Sendable () -> Void = {}
  ) {
    self.limit = limit
    self.byteLimit = byteLimit
    self.overflow = overflow
    self.onRoom = onRoom
  }

  /// How many elements wait.
  var count: Int { state.withLock { $0.elements.count } }

  /// How many elements were dropped because the reader was behind.
  var dropped: UInt64 { state.withLock { $0.dropped } }

  /// How many bytes wait.
  var bytes: Int { state.withLock { $0.bytes } }

  /// Puts an element of so many bytes in; `false` where the sender has to wait from now on.
  func push(_ element: Element, bytes: Int = 0) -> Bool {
    let (reader, hasRoom) = state.withLock { state in
      if state.isFinished { return (CheckedContinuation<Element?, Never>?.none, true) }
      if let reader = state.reader {
        state.reader = nil
        return (reader, true)
      }
      makeRoom(for: element, &state)
      state.elements.append(Waiting(element: element, bytes: bytes))
      state.bytes += bytes
      if case .pause = overflow, state.elements.count >= limit || state.bytes >= byteLimit {
        state.isPaused = true
      }
      return (nil, !state.isPaused)
    }
    reader?.resume(returning: element)
    return hasRoom
  }

  private func makeRoom(for element: Element, _ state: inout State) {
    while state.elements.count >= limit || state.bytes >= byteLimit {
      let dropped: Waiting?
      switch overflow {
      case .pause: return
      case .dropOldest: dropped = state.elements.popFirst()
      case .replace(let isStale):
        dropped = state.elements.removeFirst { isStale($0.element, element) }
      }
      guard let dropped else { return }
      state.bytes -= dropped.bytes
      state.dropped += 1
    }
  }

  /// The next element, if one is there.
  func take() -> Element? {
    let (element, hasRoomAgain) = state.withLock { pop(&$0) }
    if hasRoomAgain { onRoom() }
    return element
  }

  private func pop(_ state: inout State) -> (Element?, Bool) {
    let first = state.elements.popFirst()
    state.bytes -= first?.bytes ?? 0
    let hasRoomAgain =
      state.isPaused && state.elements.count <= limit / 2 && state.bytes <= byteLimit / 2
    if hasRoomAgain { state.isPaused = false }
    return (first?.element, hasRoomAgain)
  }

  /// The next element as soon as there is one; `nil` at the end, and when the task is cancelled.
  func next() async -> Element? {
    if let element = take() { return element }
    defer { state.withLock { $0.isCancelled = false } }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { wait($0) }
    } onCancel: {
      cancel()
    }
  }

  private func wait(_ continuation: CheckedContinuation<Element?, Never>) {
    let isOver: Bool? = state.withLock { state in
      precondition(state.reader == nil, "one reader at a time")
      if state.isCancelled { return true }
      if !state.elements.isEmpty { return false }
      if state.isFinished { return true }
      state.reader = continuation
      return nil
    }
    switch isOver {
    case true?: continuation.resume(returning: nil)
    case false?: continuation.resume(returning: take())
    case nil: break
    }
  }

  private func cancel() {
    let reader = state.withLock { state in
      state.isCancelled = true
      defer { state.reader = nil }
      return state.reader
    }
    reader?.resume(returning: nil)
  }

  /// Nothing comes any more; what is there can still be taken.
  func finish() {
    let reader = state.withLock { state in
      state.isFinished = true
      defer { state.reader = nil }
      return state.reader
    }
    reader?.resume(returning: nil)
  }
}
