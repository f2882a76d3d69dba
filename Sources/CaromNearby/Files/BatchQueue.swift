import CaromCore
import CaromTransport

/// A queue from a loop to one task, which takes several elements at once if they were appended
/// while it was busy: a file is read and written on another thread, and one change of threads then
/// serves many elements.
final class BatchQueue<Element: Sendable>: AsyncSequence, Sendable {
  /// The maximum number of elements that are taken at once. With pieces of 64 KiB, the thread that
  /// writes them is busy for less than a millisecond, which is as long as the loop may have to wait
  /// if both threads share a core.
  private static var batchLimit: Int { 8 }

  private let elements = Locked(Deque<Element>())
  /// Says that there are elements, or that there will be no more.
  private let (signals, input) = AsyncStream.makeStream(
    of: Void.self, bufferingPolicy: .bufferingNewest(1))

  func append(_ element: Element) {
    elements.withLock { $0.append(element) }
    input.yield()
  }

  /// Ends the sequence after the elements that were appended before.
  func finish() { input.finish() }

  struct AsyncIterator: AsyncIteratorProtocol {
    fileprivate let queue: BatchQueue
    fileprivate var signals: AsyncStream<Void>.AsyncIterator

    /// Waits for elements, and returns the first of them. Returns nil when there are none after
    /// `finish`.
    mutating func next() async -> [Element]? {
      while true {
        let batch = queue.take()
        if !batch.isEmpty { return batch }
        guard await signals.next(isolation: #isolation) != nil else { return nil }
      }
    }
  }

  func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(queue: self, signals: signals.makeAsyncIterator())
  }

  private func take() -> [Element] {
    elements.withLock { elements in
      var batch: [Element] = []
      while batch.count < Self.batchLimit, let element = elements.popFirst() {
        batch.append(element)
      }
      return batch
    }
  }
}
