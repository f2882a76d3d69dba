/// Carries a value that belongs to a loop's thread through code that may run on other threads.
///
/// Unchecked: `value` must be accessed only on the loop's thread.
struct LoopBound<Value>: @unchecked Sendable {
  let value: Value

  init(_ value: Value) { self.value = value }
}
