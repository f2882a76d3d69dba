import CaromGroup

/// The tasks that wait for one stream.
struct StreamWaiters {
  typealias Waiter = CheckedContinuation<Void, Never>

  var reader: Waiter?
  var writer: Waiter?
  /// The failure of a stream that was reset, for those who ask later.
  var failure: StreamFailure?
  /// Whether the owner has read everything.
  var hasReadEnd = false
  /// Whether the owner writes no more.
  var isFinished = false

  mutating func resumeReader() {
    reader?.resume()
    reader = nil
  }

  mutating func resumeWriter() {
    writer?.resume()
    writer = nil
  }
}
