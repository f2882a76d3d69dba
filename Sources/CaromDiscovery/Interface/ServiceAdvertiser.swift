import CaromDNS
import CaromTransport

/// Makes a service visible on the network for the length of a scope.
///
/// ```swift
/// let table = AdvertisedService(name: "Maya's table", type: "_airhockey._tcp", port: 7777)
/// try await ServiceAdvertiser(table).run { advertisement in
///   print("visible as \(advertisement.name)")
///   await match.end()
/// }
/// ```
public struct ServiceAdvertiser: Sendable {
  /// What is advertised.
  public let service: AdvertisedService
  private let interfaces: InterfaceSelection
  private let loop: NetworkLoop?

  /// Advertises nothing yet; `run` does. Without a loop it runs on one that the program shares.
  public init(
    _ service: AdvertisedService, interfaces: InterfaceSelection = .automatic,
    on loop: NetworkLoop? = nil
  ) {
    self.service = service
    self.interfaces = interfaces
    self.loop = loop
  }

  /// Claims the name, announces the service, and calls `body` once it is visible. When `body`
  /// ends, in whatever way, the service is withdrawn: its goodbye has left when this returns.
  ///
  /// Throws a `DiscoveryError` where the service cannot become visible, else what `body` throws.
  public func run<Value>(
    _ body: (Advertisement) async throws -> Value
  ) async throws -> Value {
    try service.validate()
    let discovery = try DiscoveryActor.shared(on: loop, interfaces)
    let names = Latest<String>.makeFeed()
    let id = try await discovery.advertise(service) { event in
      switch event {
      case .established(let name), .renamed(let name): names.send(name, about: 0)
      case .failed(let error): names.finish(throwing: error)
      }
    }
    do {
      var reader = Feed.Reader(names)
      guard let first = try await reader.next(isolation: nil, { $0.popFirst() }) else {
        throw DiscoveryError.cancelled
      }
      let advertisement = Advertisement(
        name: first, renames: Latest { Feed.Reader(names) }, discovery: discovery, id: id)
      let value = try await body(advertisement)
      await discovery.withdraw(id)
      return value
    } catch {
      await discovery.withdraw(id)
      throw error
    }
  }
}
