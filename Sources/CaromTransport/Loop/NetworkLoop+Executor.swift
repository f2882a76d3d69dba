import CUVLoop

extension NetworkLoop: SerialExecutor, TaskExecutor {
  /// Runs a job of an actor or a task on the loop's thread.
  public func enqueue(_ job: consuming ExecutorJob) {
    core.enqueue(.job(UnownedJob(job)))
  }

  /// This loop as the executor of an actor; the actor holds the loop itself.
  public func asUnownedSerialExecutor() -> UnownedSerialExecutor {
    unsafe UnownedSerialExecutor(ordinary: self)
  }

  /// This loop as a task's preferred executor.
  public func asUnownedTaskExecutor() -> UnownedTaskExecutor {
    unsafe UnownedTaskExecutor(ordinary: self)
  }

  /// Whether the caller runs on the loop, so that `assumeIsolated` works in its callbacks.
  public func isIsolatingCurrentContext() -> Bool? { core.isCurrent }

  /// Traps unless the caller runs on the loop.
  public func checkIsolated() { preconditionCurrent("this actor") }
}
