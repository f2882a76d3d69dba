/// Takes a value of the loop's through code that may run elsewhere.
///
/// Unchecked: whoever reads `value` is on the loop's thread.
struct LoopBound<Value>: @unchecked Sendable {
  let value: Value

  init(_ value: Value) { self.value = value }
}
