import CaromDNS
import CaromTransport

/// Starts a watch for each reader of a `DiscoveryChanges` or `DiscoveryBatches` sequence.
struct ChangeSource<Item>: Sendable
where Item: Identifiable & Hashable & Sendable, Item.ID: Sendable {
  typealias Change = DiscoveryChange<Item>
  typealias Start =
    @Sendable (
      isolated DiscoveryActor, @escaping DiscoveryActor.Listener<Change>
    ) throws(DiscoveryError) -> DiscoveryActor.Handle

  private let loop: NetworkLoop?
  private let interfaces: InterfaceSelection
  private let start: Start

  /// Creates a source of watches on `loop`, or on the loop that the whole program shares if `loop`
  /// is nil. `start` starts a watch and returns the handle that stops it.
  init(_ interfaces: InterfaceSelection, on loop: NetworkLoop?, _ start: @escaping Start) {
    self.loop = loop
    self.interfaces = interfaces
    self.start = start
  }

  /// Starts a watch and returns a reader of its changes. The watch stops when the reader is
  /// released.
  func begin() -> CoalescingStream<Item.ID, Change>.Reader {
    CoalescingStream.read(CoalescingStream { $0.merged(with: $1) }) {
      [self] send, finish throws(DiscoveryError) in
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
