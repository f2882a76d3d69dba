import CaromTransport

/// The bytes of received data that wait for their delegate calls. While there are too many, no more
/// are read from the network, so that the senders have to wait.
package final class Backlog: Sendable {
  /// The number of bytes beyond which nothing more is read.
  package static let highMark = 4 << 20
  /// The number of bytes below which reading goes on.
  package static let lowMark = 1 << 20
  /// The number of bytes that each call counts in addition to its data.
  private static let charge = 256

  private struct State: Sendable {
    var bytes = 0
    var isFull = false
    var full: (@Sendable () -> Void)?
    var low: (@Sendable () -> Void)?
  }

  private let state = Locked(State())

  /// Creates an empty backlog.
  package init() {}

  /// Sets the handlers for the moments at which reading has to stop and can go on.
  package func setHandlers(
    full: @escaping @Sendable () -> Void, low: @escaping @Sendable () -> Void
  ) {
    state.withLock { ($0.full, $0.low) = (full, low) }
  }

  /// Counts a call with this many bytes of data until the returned object is released.
  package func add(_ count: Int) -> Share {
    let count = count + Self.charge
    let handler = state.withLock { state -> (@Sendable () -> Void)? in
      state.bytes += count
      guard state.bytes > Self.highMark, !state.isFull else { return nil }
      state.isFull = true
      return state.full
    }
    handler?()
    return Share(count, of: self)
  }

  fileprivate func remove(_ count: Int) {
    let handler = state.withLock { state -> (@Sendable () -> Void)? in
      state.bytes -= count
      guard state.bytes < Self.lowMark, state.isFull else { return nil }
      state.isFull = false
      return state.low
    }
    handler?()
  }

  /// One call's part in the backlog.
  package final class Share: Sendable {
    private let count: Int
    private let backlog: Backlog

    fileprivate init(_ count: Int, of backlog: Backlog) {
      self.count = count
      self.backlog = backlog
    }

    deinit { backlog.remove(count) }
  }
}
