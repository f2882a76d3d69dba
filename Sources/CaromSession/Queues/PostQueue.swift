import CaromTransport

/// A bounded queue from other threads to one event loop. Any thread appends elements, and the loop
/// removes all of them together.
final class PostQueue<Element: Sendable>: Sendable {
  enum Outcome {
    /// The queue was empty before, so the loop must now be asked to empty it.
    case isFirst
    /// The loop has already been asked to empty the queue.
    case isMore
    /// The queue is full, and the element was not added.
    case isFull
  }

  private struct State: Sendable {
    var elements: [Element] = []
    var bytes = 0
  }

  private let limit: Int
  private let byteLimit: Int
  private let state = Locked(State())

  /// Creates a queue of at most `limit` elements and `byteLimit` bytes.
  init(limit: Int, byteLimit: Int = .max) {
    self.limit = limit
    self.byteLimit = byteLimit
  }

  /// Adds an element that counts as `bytes` bytes, and returns the outcome. If `isBounded` is
  /// false, the element is added even if the queue is full.
  func append(_ element: Element, bytes: Int = 0, isBounded: Bool = true) -> Outcome {
    state.withLock { state in
      if isBounded, state.elements.count >= limit || bytes > byteLimit - state.bytes {
        return .isFull
      }
      state.elements.append(element)
      state.bytes += bytes
      return state.elements.count == 1 ? .isFirst : .isMore
    }
  }

  /// Removes and returns all elements, oldest first.
  func removeAll() -> [Element] {
    state.withLock { state in
      defer { state = State() }
      return state.elements
    }
  }
}
