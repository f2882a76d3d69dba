/// A value of the application or of Foundation that is not Sendable, and that only the queue of the
/// delegate calls uses after it was made.
struct Transferred<Value>: @unchecked Sendable {  // see above
  let value: Value

  init(_ value: Value) { self.value = value }
}
