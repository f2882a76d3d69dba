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
///
/// With a `RegistrationDomain`, the service is registered in that domain instead of on the link,
/// and is found by browsers everywhere that query the domain.
public struct ServiceAdvertiser: Sendable {
  /// The service to advertise.
  public let service: AdvertisedService
  private let interfaces: InterfaceSelection
  private let loop: NetworkLoop?
  private let domain: RegistrationDomain?

  /// Creates an advertiser without sending anything; `run` starts advertising. If `loop` is nil,
  /// the loop that the whole program shares is used.
  public init(
    _ service: AdvertisedService, interfaces: InterfaceSelection = .automatic,
    on loop: NetworkLoop? = nil
  ) {
    self.service = service
    self.interfaces = interfaces
    self.loop = loop
    domain = nil
  }

  /// Creates an advertiser that registers the service in `domain` by dynamic updates of its zone
  /// (RFC 2136). The host's addresses on `interfaces` are registered with it. Nothing is sent
  /// before `run`.
  public init(
    _ service: AdvertisedService, in domain: RegistrationDomain,
    interfaces: InterfaceSelection = .automatic, on loop: NetworkLoop? = nil
  ) {
    self.service = service
    self.interfaces = interfaces
    self.loop = loop
    self.domain = domain
  }

  /// Claims the service's name, announces or registers the service, and calls `body` once it is
  /// visible. When `body` returns or throws, the service is withdrawn; when this method returns,
  /// its goodbye records have been sent, or it has been removed from its domain.
  ///
  /// Throws a `DiscoveryError` if the service cannot become visible, or the error that `body`
  /// throws.
  public func run<Value>(
    _ body: (Advertisement) async throws -> Value
  ) async throws -> Value {
    try service.validate()
    let discovery = try DiscoveryActor.shared(on: loop, interfaces)
    let names = LatestValues<String>.makeStream()
    let publication = try await discovery.publish(service, in: domain) { event in
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
        publication: publication)
      let value = try await body(advertisement)
      await publication.withdraw()
      return value
    } catch {
      await publication.withdraw()
      throw error
    }
  }
}
