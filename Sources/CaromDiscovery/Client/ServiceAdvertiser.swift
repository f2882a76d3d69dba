import CaromDNS
import CaromTransport

/// Advertises a service on the network for the duration of a scope.
///
/// ```swift
/// let match = AdvertisedService(name: "Maya's match", type: "_airhockey._tcp", port: 7777)
/// try await ServiceAdvertiser(match).run { advertisement in
///   print("visible as \(advertisement.name)")
///   await game.end()
/// }
/// ```
public struct ServiceAdvertiser: Sendable {
  /// The service to advertise.
  public let service: AdvertisedService
  private let interfaces: InterfaceSelection
  private let loop: NetworkLoop?

  /// Creates an advertiser without sending anything; `run` starts advertising. If `loop` is nil,
  /// the loop that the whole program shares is used.
  public init(
    _ service: AdvertisedService, interfaces: InterfaceSelection = .automatic,
    on loop: NetworkLoop? = nil
  ) {
    self.service = service
    self.interfaces = interfaces
    self.loop = loop
  }

  /// Claims the service's name, announces the service, and calls `body` once it is visible. When
  /// `body` returns or throws, the service is withdrawn; its goodbye records have been sent when
  /// this method returns.
  ///
  /// Throws a `DiscoveryError` if the service cannot become visible, or the error that `body`
  /// throws.
  public func run<Value>(
    _ body: (Advertisement) async throws -> Value
  ) async throws -> Value {
    try service.validate()
    let discovery = try DiscoveryActor.shared(on: loop, interfaces)
    let names = LatestValues<String>.makeStream()
    let id = try await discovery.advertise(service) { event in
      switch event {
      case .established(let name), .renamed(let name): names.send(name, about: 0)
      case .failed(let error): names.finish(throwing: error)
      }
    }
    do {
      var reader = CoalescingStream.Reader(names)
      guard let first = try await reader.next(isolation: nil, { $0.popFirst() }) else {
        throw DiscoveryError.cancelled
      }
      let advertisement = Advertisement(
        name: first, renames: LatestValues { CoalescingStream.Reader(names) },
        discovery: discovery, id: id)
      let value = try await body(advertisement)
      await discovery.withdraw(id)
      return value
    } catch {
      await discovery.withdraw(id)
      throw error
    }
  }
}
