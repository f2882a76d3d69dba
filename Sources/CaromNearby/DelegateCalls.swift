import CaromTransport
import Dispatch

/// The calls of one object's delegate, in order, on a serial queue.
///
/// Calls that are made before the object has got a delegate wait for it.
package final class DelegateCalls: Sendable {
  package typealias Call = @Sendable () -> Void

  private enum State: Sendable {
    case holding([Call])
    case open
    case ended
  }

  private let queue: DispatchQueue
  private let state = Locked(State.holding([]))

  /// Creates calls that are made on a serial queue.
  package init(on queue: DispatchQueue) { self.queue = queue }

  /// Queues a call.
  package func post(_ call: @escaping Call) {
    // The queue is appended to under the lock, so that the order is that of the calls.
    state.withLock { state in
      switch state {
      case .holding(var calls):
        state = .ended  // the array is not shared while it grows
        calls.append(call)
        state = .holding(calls)
      case .open: queue.async(execute: call)
      case .ended: break
      }
    }
  }

  /// Queues a call that needs no delegate, such as that of a completion handler.
  package func perform(_ call: @escaping Call) { queue.async(execute: call) }

  /// The object has a delegate: makes the calls that have waited for it.
  package func open() {
    state.withLock { state in
      guard case .holding(let calls) = state else { return }
      state = .open
      for call in calls { queue.async(execute: call) }
    }
  }

  /// The object is released: drops the calls that wait.
  package func end() { state.withLock { $0 = .ended } }
}
