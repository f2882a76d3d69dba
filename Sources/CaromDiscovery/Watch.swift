import CaromDNS
import CaromTransport

/// How to begin to watch: what every reader of a browser does anew.
struct Watch<Item>: Sendable
where Item: Identifiable & Hashable & Sendable, Item.ID: Sendable {
  typealias Change = DiscoveryChange<Item>
  typealias Stop = @Sendable () async -> Void

  private let loop: EventLoop?
  private let interfaces: InterfaceSelection
  private let start:
    @Sendable (DiscoveryActor, @escaping @Sendable (Result<Change, DiscoveryError>) -> Void)
      async throws(DiscoveryError) -> Stop

  /// Watches on `loop`; `start` begins and gives what ends it.
  init(
    _ interfaces: InterfaceSelection, on loop: EventLoop?,
    _ start:
      @escaping @Sendable (
        DiscoveryActor, @escaping @Sendable (Result<Change, DiscoveryError>) -> Void
      ) async throws(DiscoveryError) -> Stop
  ) {
    self.loop = loop
    self.interfaces = interfaces
    self.start = start
  }

  /// Begins, and gives the reader whose end stops it.
  func begin() -> Feed<Item.ID, Change>.Reader {
    let feed = Feed<Item.ID, Change> { $0.merged(with: $1) }
    let task = Task { await run(feed) }
    feed.onTermination {
      Task { await task.value?() }
    }
    return Feed.Reader(feed)
  }

  private func run(_ feed: Feed<Item.ID, Change>) async -> Stop? {
    do throws(DiscoveryError) {
      let discovery = try DiscoveryActor.shared(on: loop, interfaces)
      return try await start(discovery) { [weak feed] result in
        switch result {
        case .success(let change): feed?.send(change, about: change.item.id)
        case .failure(let error): feed?.finish(throwing: error)
        }
      }
    } catch {
      feed.finish(throwing: error)
      return nil
    }
  }
}
