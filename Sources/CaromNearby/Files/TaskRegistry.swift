import CaromTransport

/// The tasks that a scope has begun, so that it can wait for all of them before it ends.
final class TaskRegistry: Sendable {
  private struct State: Sendable {
    var tasks: [UInt64: Task<Void, Never>] = [:]
    var next: UInt64 = 0
    /// The tasks that ended before they were stored.
    var ended: Set<UInt64> = []
  }

  private let state = Locked(State())

  /// Begins a task on a loop.
  func add(on loop: NetworkLoop, _ body: @escaping @Sendable () async -> Void) {
    let number = state.withLock { state in
      state.next += 1
      return state.next
    }
    let task = Task(executorPreference: loop) {
      await body()
      self.state.withLock { state in
        if state.tasks.removeValue(forKey: number) == nil { state.ended.insert(number) }
      }
    }
    state.withLock { state in
      if state.ended.remove(number) == nil { state.tasks[number] = task }
    }
  }

  /// Waits until all tasks have ended.
  func waitForAll() async {
    while let task = state.withLock({ $0.tasks.first?.value }) {
      await task.value
    }
  }
}
