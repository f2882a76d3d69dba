import CUVLoop

/// A value behind a lock of the system's.
///
/// `Synchronization.Mutex` would do, but the thread sanitizer cannot see the part of it that waits
/// and reports races that are none. Unchecked: the lock guards the value.
@safe package final class Locked<Value>: @unchecked Sendable {
  private let lock = unsafe cuv_lock_create()
  private var value: Value

  package init(_ value: Value) { self.value = value }

  deinit { unsafe cuv_lock_destroy(lock) }

  package func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
    unsafe cuv_lock_take(lock)
    defer { unsafe cuv_lock_give(lock) }
    return body(&value)
  }
}
