import CaromDNS
import CaromTransport
import Dispatch

/// Discovery for programs with a frame loop: start requests from any thread, and poll for events
/// once per frame. No method blocks except `close`.
///
/// ```swift
/// let discovery = try DiscoveryPoller()
/// let browse = discovery.browse("_airhockey._tcp")
/// // each frame:
/// while let event = discovery.poll() {
///   if case .service(browse, .added(let match)) = event { list.append(match.name) }
/// }
/// ```
///
/// The work runs on a loop's own thread and shares its sockets with the async API. Unread events
/// are merged, so that at most one event per request or watched item is queued, with the newest
/// state.
public final class DiscoveryPoller: Sendable {
  /// Identifies a request; every event carries the request that caused it.
  public struct Request: Hashable, Sendable {
    let number: UInt64
  }

  let discovery: DiscoveryActor
  let requests = PollerRequests()

  /// Creates a poller. Its sockets are opened by the first request. If `loop` is nil, the loop that
  /// the whole program shares is used.
  public init(
    interfaces: InterfaceSelection = .automatic, on loop: NetworkLoop? = nil
  ) throws(DiscoveryError) {
    discovery = try DiscoveryActor.shared(on: loop, interfaces)
  }

  deinit {
    discovery.loop.post { [requests, discovery] in _ = Self.stopAll(requests, discovery) }
  }

  /// Returns the next event, or nil if there is none.
  public func poll() -> Event? {
    guard let (event, ended) = requests.popEvent() else { return nil }
    if let ended {
      discovery.loop.post { [discovery] in discovery.assumeIsolated { $0.stop(ended) } }
    }
    return event
  }

  /// Cancels a request: withdraws an advertised service or stops a query. Unread events of the
  /// request are discarded.
  public func cancel(_ request: Request) {
    requests.close(request)
    discovery.loop.post { [requests, discovery] in
      requests.removeHandle(of: request).map { handle in
        discovery.assumeIsolated { $0.stop(handle) }
      }
    }
  }

  /// Cancels every request and blocks until the goodbye records have been sent, and the services in
  /// domains have been removed or that has failed.
  public func close() {
    let loop = discovery.loop
    guard !loop.isCurrent else {
      _ = Self.stopAll(requests, discovery)
      return
    }
    let done = DispatchSemaphore(value: 0)
    loop.post { [requests, discovery] in
      let removals = Self.stopAll(requests, discovery)
      guard !removals.isEmpty else {
        done.signal()
        return
      }
      Task {
        for removal in removals { await removal.value }
        done.signal()
      }
    }
    done.wait()
  }

  /// Stops everything. Returns the tasks that remove services from domains, those of requests that
  /// were cancelled before among them.
  private static func stopAll(
    _ requests: PollerRequests, _ discovery: DiscoveryActor
  ) -> [Task<Void, Never>] {
    discovery.assumeIsolated { discovery in
      for handle in requests.closeAll() { discovery.stop(handle) }
      discovery.sendGoodbyes()
      return Array(discovery.removals.values)
    }
  }
}
