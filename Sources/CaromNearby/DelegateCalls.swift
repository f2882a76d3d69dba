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

  private struct Reference: @unchecked Sendable {  // the delegate is called on the queue alone
    weak var delegate: AnyObject?
  }

  /// The serial queue of the calls.
  package let queue: DispatchQueue
  private let reference = Locked(Reference())
  private let state = Locked(State.holding([]))

  /// Creates calls that are made on a serial queue.
  package init(on queue: DispatchQueue) { self.queue = queue }

  /// The delegate, which is not retained. The calls that have waited for one are made when it is
  /// set for the first time.
  package var delegate: AnyObject? {
    get { reference.withLock { $0.delegate } }
    set {
      reference.withLock { $0.delegate = newValue }
      if newValue != nil { open() }
    }
  }

  /// Whether calls are held because the object has no delegate yet.
  package var isHolding: Bool {
    state.withLock { state in
      if case .holding = state { true } else { false }
    }
  }

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

  private func open() {
    state.withLock { state in
      guard case .holding(let calls) = state else { return }
      state = .open
      for call in calls { queue.async(execute: call) }
    }
  }

  /// The object is released: drops the calls that wait.
  package func end() { state.withLock { $0 = .ended } }
}
