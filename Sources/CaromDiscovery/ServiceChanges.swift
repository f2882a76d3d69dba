import CaromDNS
import CaromTransport

/// The changes that a `ServiceBrowser` tells, one reader a browsing.
public struct ServiceChanges: AsyncSequence, Sendable {
  /// Something came, changed or went.
  public typealias Element = ServiceChange
  /// Why browsing cannot begin.
  public typealias Failure = DiscoveryError

  let type: ServiceType
  let interfaces: InterfaceSelection
  let loop: EventLoop?

  /// Reads one change after the other; dropping it stops the queries.
  public struct Iterator: AsyncIteratorProtocol {
    var changes: AsyncStream<Result<ServiceChange, DiscoveryError>>.Iterator

    /// The next change; `nil` when the task is cancelled.
    public mutating func next() async throws(DiscoveryError) -> ServiceChange? {
      try await next(isolation: nil)
    }

    /// The next change; `nil` when the task is cancelled.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(DiscoveryError) -> ServiceChange? {
      try await changes.next(isolation: actor)?.get()
    }
  }

  /// Begins to browse.
  public func makeAsyncIterator() -> Iterator {
    let (changes, continuation) = AsyncStream<Result<ServiceChange, DiscoveryError>>.makeStream()
    let start = Task { [type, interfaces, loop] in
      try await Self.start(type, interfaces, loop) { continuation.yield(.success($0)) }
    }
    continuation.onTermination = { _ in
      Task { if let stop = try? await start.value { await stop() } }
    }
    Task {
      if case .failure(let error) = await start.result {
        continuation.yield(.failure(error as? DiscoveryError ?? .closed))
        continuation.finish()
      }
    }
    return Iterator(changes: changes.makeAsyncIterator())
  }

  /// Begins, and gives what ends it.
  private static func start(
    _ type: ServiceType, _ interfaces: InterfaceSelection, _ loop: EventLoop?,
    _ handle: @escaping @Sendable (ServiceChange) -> Void
  ) async throws -> @Sendable () async -> Void {
    let discovery = try DiscoveryActor.shared(on: loop, interfaces)
    let id = try await discovery.browse(type, handle)
    return { await discovery.stopBrowsing(id) }
  }
}
