import CaromCore
import CaromTransport

/// A bounded queue from an event loop to one reader on any thread. The reader can wait for the next
/// element, or poll for it.
package final class Inbox<Element: Sendable>: Sendable {
  /// The rule for an element that is pushed onto a full queue.
  package enum Overflow: Sendable {
    /// The element is added, and `push` returns false so that the sender pauses. `onRoom` is called
    /// once the queue has shrunk to half of its limits.
    case pause
    /// The oldest element is dropped.
    case dropOldest
    /// The oldest element is dropped. The next element that the reader gets is a report, which the
    /// closure makes from the number of dropped elements.
    case dropOldestAndReport(@Sendable (_ dropped: Int) -> Element)
    /// The oldest element that the new element makes stale is dropped. If there is none, the queue
    /// grows.
    case replace(@Sendable (_ old: Element, _ new: Element) -> Bool)
  }

  /// An element and the number of bytes that it counts as.
  package struct Entry: Sendable {
    let element: Element
    let bytes: Int
  }

  private struct State: Sendable {
    var entries = Deque<Entry>()
    var bytes = 0
    var reader: CheckedContinuation<Element?, Never>?
    var isPaused = false
    var isFinished = false
    /// Whether the reader's task was cancelled before the reader could suspend.
    var isCancelled = false
    var dropped: UInt64 = 0
    /// The number of dropped elements that have not been reported to the reader.
    var unreported = 0

    mutating func pop(_ overflow: Overflow) -> Element? {
      if unreported > 0, case .dropOldestAndReport(let makeReport) = overflow {
        defer { unreported = 0 }
        return makeReport(unreported)
      }
      let first = entries.popFirst()
      bytes -= first?.bytes ?? 0
      return first?.element
    }
  }

  /// The number of elements at which the queue is full.
  let limit: Int
  /// The number of bytes at which the queue is full. The element that reaches this number may
  /// exceed it.
  let byteLimit: Int
  private let overflow: Overflow
  private let onRoom: @Sendable () -> Void
  private let state = Locked(State())

  package init(
    limit: Int, byteLimit: Int = .max, overflow: Overflow,
    onRoom: @escaping @Sendable () -> Void = {}
  ) {
    self.limit = limit
    self.byteLimit = byteLimit
    self.overflow = overflow
    self.onRoom = onRoom
  }

  /// The number of unread elements.
  var count: Int { state.withLock { $0.entries.count } }

  /// The number of elements that were dropped because the queue was full.
  var dropped: UInt64 { state.withLock { $0.dropped } }

  /// Whether the sender has been told to pause, and not yet to go on.
  var isPaused: Bool { state.withLock { $0.isPaused } }

  /// The total size of the unread elements in bytes, as given to `push`.
  var bytes: Int { state.withLock { $0.bytes } }
}

// MARK: - Writing
extension Inbox {
  /// Adds an element that counts as `bytes` bytes. Returns false if the sender must pause.
  package func push(_ element: Element, bytes: Int = 0) -> Bool {
    let (reader, hasRoom) = state.withLock { state in
      if state.isFinished { return (CheckedContinuation<Element?, Never>?.none, true) }
      if let reader = state.reader {
        state.reader = nil
        return (reader, true)
      }
      append(Entry(element: element, bytes: bytes), to: &state)
      return (nil, !state.isPaused)
    }
    reader?.resume(returning: element)
    return hasRoom
  }

  /// Adds elements in order, as `push` does, but under one lock. `entries` must not be empty.
  func push(contentsOf entries: [Entry]) -> Bool {
    let (reader, hasRoom) = state.withLock { state in
      if state.isFinished { return (CheckedContinuation<Element?, Never>?.none, true) }
      let reader = state.reader
      state.reader = nil
      for entry in entries.dropFirst(reader == nil ? 0 : 1) { append(entry, to: &state) }
      return (reader, !state.isPaused)
    }
    reader?.resume(returning: entries[0].element)
    return hasRoom
  }

  private func append(_ entry: Entry, to state: inout State) {
    makeRoom(for: entry.element, &state)
    state.entries.append(entry)
    state.bytes += entry.bytes
    if case .pause = overflow, state.entries.count >= limit || state.bytes >= byteLimit {
      state.isPaused = true
    }
  }

  private func makeRoom(for element: Element, _ state: inout State) {
    while state.entries.count >= limit || state.bytes >= byteLimit {
      let dropped: Entry?
      switch overflow {
      case .pause: return
      case .dropOldest, .dropOldestAndReport: dropped = state.entries.popFirst()
      case .replace(let isStale):
        dropped = state.entries.removeFirst { isStale($0.element, element) }
      }
      guard let dropped else { return }
      state.bytes -= dropped.bytes
      state.dropped += 1
      state.unreported += 1
    }
  }

  /// Ends the queue. New elements are ignored, but those in the queue can still be read.
  package func finish() {
    let reader = state.withLock { state in
      state.isFinished = true
      defer { state.reader = nil }
      return state.reader
    }
    reader?.resume(returning: nil)
  }
}

// MARK: - Reading
extension Inbox {
  /// Removes and returns the oldest element, or nil if the queue is empty.
  package func pop() -> Element? { read { $0.pop(overflow) } }

  /// Removes and returns all elements, oldest first.
  func popAll() -> [Element] {
    var elements: [Element] = []
    while let element = pop() { elements.append(element) }
    return elements
  }

  /// Removes all elements with the given key and returns the newest of them, or nil if there is
  /// none. For every other key, keeps only the newest element, and only if the element satisfies
  /// `isKept`.
  func popNewest<Key: Hashable>(
    with key: Key, by keyOf: (Element) -> Key, keeping isKept: (Element) -> Bool = { _ in true }
  ) -> Element? {
    read { state in
      var newest: Element?
      var seen: Set<Key> = []
      for _ in 0..<state.entries.count {
        guard let entry = state.entries.popLast() else { break }
        let entryKey = keyOf(entry.element)
        let isNewest = seen.insert(entryKey).inserted
        if isNewest, entryKey == key { newest = entry.element }
        if isNewest, entryKey != key, isKept(entry.element) {
          state.entries.prepend(entry)
        } else {
          state.bytes -= entry.bytes
        }
      }
      return newest
    }
  }

  /// Waits for the next element. Returns nil when the queue has ended and is empty, or when the
  /// task is cancelled.
  package func next() async -> Element? {
    if let element = pop() { return element }
    defer { state.withLock { $0.isCancelled = false } }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { wait($0) }
    } onCancel: {
      cancel()
    }
  }

  /// Runs `body` under the lock and returns its result. Afterwards, resumes a paused sender if the
  /// queue has room again.
  private func read(_ body: (inout State) -> Element?) -> Element? {
    let (element, hasRoomAgain) = state.withLock { state in
      let element = body(&state)
      let hasRoomAgain =
        state.isPaused && state.entries.count <= limit / 2 && state.bytes <= byteLimit / 2
      if hasRoomAgain { state.isPaused = false }
      return (element, hasRoomAgain)
    }
    if hasRoomAgain { onRoom() }
    return element
  }

  /// Resumes `continuation` with the oldest element, or with nil if the queue has ended. Otherwise
  /// stores the continuation until the next element arrives.
  private func wait(_ continuation: CheckedContinuation<Element?, Never>) {
    var isWaiting = false
    let element = read { state in
      precondition(
        state.reader == nil,
        "the messages of a channel, and the events of a session, have one reader at a time")
      if state.isCancelled { return nil }
      // Popped under the same lock: another thread may be emptying the inbox.
      if let element = state.pop(overflow) { return element }
      if !state.isFinished {
        state.reader = continuation
        isWaiting = true
      }
      return nil
    }
    if !isWaiting { continuation.resume(returning: element) }
  }

  private func cancel() {
    let reader = state.withLock { state in
      state.isCancelled = true
      defer { state.reader = nil }
      return state.reader
    }
    reader?.resume(returning: nil)
  }
}
