import CUVLoop

/// A value protected by a POSIX mutex.
///
/// `Synchronization.Mutex` is not used since the thread sanitizer does not see the synchronization
/// of its contended path and reports false data races. Unchecked: the mutex guards the value.
@safe package final class Locked<Value: Sendable>: @unchecked Sendable {
  private let lock = unsafe cuv_lock_create()
  private var value: Value

  package init(_ value: Value) { self.value = value }

  deinit { unsafe cuv_lock_destroy(lock) }

  /// Runs `body` while holding the mutex. `body` must not call `withLock` on the same object.
  package func withLock<Result, Failure: Error>(
    _ body: (inout Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    unsafe cuv_lock_acquire(lock)
    defer { unsafe cuv_lock_release(lock) }
    return try body(&value)
  }
}
