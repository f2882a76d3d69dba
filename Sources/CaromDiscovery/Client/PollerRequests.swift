import CaromDNS
import CaromTransport

/// The open requests of a `DiscoveryPoller` and its unread events, shared by the threads that call
/// the poller and the loop's thread.
final class PollerRequests: Sendable {
  typealias Request = DiscoveryPoller.Request
  typealias Event = DiscoveryPoller.Event

  /// The subject of an unread event: a request, or one of the services, names or records that it
  /// watches.
  struct Subject: Hashable, Sendable {
    enum Item: Hashable, Sendable {
      case request, updateFailure, failure, name(String)
      case service(DiscoveredService.ID), record(DiscoveredRecord.ID)
    }

    var request: Request
    var item: Item
  }

  private struct State: Sendable {
    var events = CoalescingBuffer<Subject, Event>()
    var nextNumber: UInt64 = 1
    /// The requests that were started and have neither ended nor been cancelled.
    var open: Set<Request> = []
    var handles: [Request: DiscoveryActor.Handle] = [:]
  }

  private let state = Locked(State())

  func makeRequest() -> Request {
    state.withLock { state in
      defer { state.nextNumber += 1 }
      let request = Request(number: state.nextNumber)
      state.open.insert(request)
      return request
    }
  }

  func isOpen(_ request: Request) -> Bool { state.withLock { $0.open.contains(request) } }

  /// Stores the handle of the operation that carries out `request`. Returns false if the request
  /// has been cancelled or has ended.
  func store(_ handle: DiscoveryActor.Handle, for request: Request) -> Bool {
    state.withLock { state in
      guard state.open.contains(request) else { return false }
      state.handles[request] = handle
      return true
    }
  }

  /// Removes and returns the handle of the operation that `request` identifies, or nil if there is
  /// none.
  func removeHandle(of request: Request) -> DiscoveryActor.Handle? {
    state.withLock { $0.handles.removeValue(forKey: request) }
  }

  func handle(of request: Request) -> DiscoveryActor.Handle? {
    state.withLock { $0.handles[request] }
  }

  /// Queues an event, unless its request has ended or was cancelled.
  func send(_ event: Event) {
    state.withLock { state in
      guard state.open.contains(event.request) else { return }
      state.events.add(event, about: event.subject) { $0.merged(with: $1) }
    }
  }

  /// Queues an event of an advertised service as an event of `request`.
  func send(_ event: DiscoveryCore.AdvertisingEvent, of request: Request) {
    switch event {
    case .established(let name), .renamed(let name): send(.advertised(request, name: name))
    case .failed(let error): send(.failed(request, error))
    }
  }

  /// Queues the result of an operation as an event of `request`.
  func send<Value>(
    _ result: Result<Value, DiscoveryError>, of request: Request,
    _ makeEvent: (Request, Value) -> Event
  ) {
    switch result {
    case .success(let value): send(makeEvent(request, value))
    case .failure(let error): send(.failed(request, error))
    }
  }

  /// Removes and returns the next event of an open request, or nil if there is none. The last event
  /// of a request also closes the request, and is returned with the handle of the operation to
  /// stop.
  func popEvent() -> (event: Event, ended: DiscoveryActor.Handle?)? {
    state.withLock { state in
      while let event = state.events.popFirst() {
        guard state.open.contains(event.request) else { continue }
        guard event.isLast else { return (event, nil) }
        state.open.remove(event.request)
        return (event, state.handles.removeValue(forKey: event.request))
      }
      return nil
    }
  }

  /// Closes a request, so that no further events of the request are delivered.
  func close(_ request: Request) { state.withLock { _ = $0.open.remove(request) } }

  /// Closes all requests and returns the handles of the operations to stop.
  func closeAll() -> [DiscoveryActor.Handle] {
    state.withLock { state in
      defer { (state.handles, state.open) = ([:], []) }
      return state.handles.sorted { $0.key.number < $1.key.number }.map(\.value)
    }
  }
}
