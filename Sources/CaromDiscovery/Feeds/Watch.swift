import CaromDNS
import CaromTransport

/// How to begin to watch: what every reader of a browser does anew.
struct Watch<Item>: Sendable
where Item: Identifiable & Hashable & Sendable, Item.ID: Sendable {
  typealias Change = DiscoveryChange<Item>
  typealias Start =
    @Sendable (
      isolated DiscoveryActor, @escaping DiscoveryActor.Listener<Change>
    ) throws(DiscoveryError) -> DiscoveryActor.Handle

  private let loop: NetworkLoop?
  private let interfaces: InterfaceSelection
  private let start: Start

  /// Watches on `loop`; `start` begins and gives what ends it.
  init(_ interfaces: InterfaceSelection, on loop: NetworkLoop?, _ start: @escaping Start) {
    self.loop = loop
    self.interfaces = interfaces
    self.start = start
  }

  /// Begins, and gives the reader whose end stops it.
  func begin() -> Feed<Item.ID, Change>.Reader {
    Feed.read(Feed { $0.merged(with: $1) }) { [self] send, finish throws(DiscoveryError) in
      let discovery = try DiscoveryActor.shared(on: loop, interfaces)
      let handle = try await discovery.perform { [start] discovery throws(DiscoveryError) in
        try start(discovery) { result in
          switch result {
          case .success(let change): send(change, change.item.id, discovery.loop)
          case .failure(let error): finish(error)
          }
        }
      }
      return { await discovery.stop(handle) }
    }
  }
}
