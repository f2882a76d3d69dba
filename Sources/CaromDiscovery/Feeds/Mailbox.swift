import CaromDNS
import Synchronization

/// What a `DiscoveryPoller` has begun, and what has happened since: shared by its threads and the
/// loop's.
final class Mailbox: Sendable {
  typealias Request = DiscoveryPoller.Request
  typealias Event = DiscoveryPoller.Event

  /// What a waiting event is about: a request, or one thing that it watches.
  struct Subject: Hashable, Sendable {
    enum Item: Hashable, Sendable {
      case request, refusal, failure, name(String)
      case service(DiscoveredService.ID), record(DiscoveredRecord.ID)
    }

    var request: Request
    var item: Item
  }

  private struct State: Sendable {
    var backlog = Backlog<Subject, Event>()
    var nextNumber: UInt64 = 1
    /// What was begun and not yet cancelled.
    var open: Set<Request> = []
    var handles: [Request: DiscoveryActor.Handle] = [:]
  }

  private let state = Mutex(State())

  func makeRequest() -> Request {
    state.withLock { state in
      defer { state.nextNumber += 1 }
      let request = Request(number: state.nextNumber)
      state.open.insert(request)
      return request
    }
  }

  func isOpen(_ request: Request) -> Bool { state.withLock { $0.open.contains(request) } }

  /// Remembers how `request` is ended; false where it was cancelled meanwhile, or is over.
  func keep(_ handle: DiscoveryActor.Handle, for request: Request) -> Bool {
    state.withLock { state in
      guard state.open.contains(request) else { return false }
      state.handles[request] = handle
      return true
    }
  }

  /// How `request` is ended, for the last time.
  func take(_ request: Request) -> DiscoveryActor.Handle? {
    state.withLock { $0.handles.removeValue(forKey: request) }
  }

  func handle(of request: Request) -> DiscoveryActor.Handle? {
    state.withLock { $0.handles[request] }
  }

  func send(_ event: Event) {
    state.withLock { state in
      guard state.open.contains(event.request) else { return }
      state.backlog.add(event, about: event.subject) { $0.merged(with: $1) }
    }
  }

  /// The next event of a request that was not cancelled. With its last event a request is over:
  /// how to end what is left of it.
  func poll() -> (event: Event, end: DiscoveryActor.Handle?)? {
    state.withLock { state in
      while let event = state.backlog.popFirst() {
        guard state.open.contains(event.request) else { continue }
        guard event.isLast else { return (event, nil) }
        state.open.remove(event.request)
        return (event, state.handles.removeValue(forKey: event.request))
      }
      return nil
    }
  }

  func forget(_ request: Request) { state.withLock { _ = $0.open.remove(request) } }

  /// Nothing is told any more: how everything is ended.
  func close() -> [DiscoveryActor.Handle] {
    state.withLock { state in
      defer { (state.handles, state.open) = ([:], []) }
      return state.handles.sorted { $0.key.number < $1.key.number }.map(\.value)
    }
  }
}
