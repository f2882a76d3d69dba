import CUVLoop

extension NetworkLoop: SerialExecutor, TaskExecutor {
  /// Enqueues a job of an actor or a task to run on the loop's thread.
  public func enqueue(_ job: consuming ExecutorJob) {
    core.enqueue(.job(UnownedJob(job)))
  }

  /// Returns the loop as the executor of an actor. The reference is unowned, so the actor must hold
  /// the loop.
  public func asUnownedSerialExecutor() -> UnownedSerialExecutor {
    unsafe UnownedSerialExecutor(ordinary: self)
  }

  /// Returns the loop as the preferred executor of a task.
  public func asUnownedTaskExecutor() -> UnownedTaskExecutor {
    unsafe UnownedTaskExecutor(ordinary: self)
  }

  /// Returns whether the caller runs on the loop's thread. The runtime calls this method so that
  /// `assumeIsolated` works in callbacks.
  public func isIsolatingCurrentContext() -> Bool? { core.isCurrent }

  /// Traps unless the caller runs on the loop's thread.
  public func checkIsolated() { preconditionCurrent("this actor") }
}
