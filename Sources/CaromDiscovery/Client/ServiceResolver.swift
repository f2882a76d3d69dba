import CaromDNS
import CaromTransport

/// Resolves a service that is known by name, such as one that was found earlier and saved.
public struct ServiceResolver: Sendable {
  /// The service's name as users see it.
  public let name: String
  /// The service's type.
  public let type: ServiceType
  /// The service's domain; "local" stands for the local link.
  public let domain: String
  private let interfaces: InterfaceSelection
  private let loop: NetworkLoop?

  /// Creates a resolver without sending anything. If `loop` is nil, the loop that the whole program
  /// shares is used.
  public init(
    _ name: String, _ type: ServiceType, domain: String = "local",
    interfaces: InterfaceSelection = .automatic, on loop: NetworkLoop? = nil
  ) {
    self.name = name
    self.type = type
    self.domain = domain
    self.interfaces = interfaces
    self.loop = loop
  }

  /// The full names under which the service may be published: the name as given, and the name in
  /// Unicode normalization form C if that is different.
  private func fullNames() throws(DiscoveryError) -> [Name] {
    do throws(InstanceNameError) { try InstanceName.validate(name) } catch {
      throw DiscoveryError(error)
    }
    let search = try ServiceSearch(type, subtype: nil, domain: domain)
    guard let base = try? search.target.name(), let composed = try? base.prefixed(by: name) else {
      throw .nameInvalid
    }
    // A name that is not composed may be too long to be a label.
    guard let given = try? base.prefixed(byUncomposed: name), given != composed else {
      return [composed]
    }
    return [given, composed]
  }

  /// Resolves the endpoints at which the service can be reached. Throws `timedOut` if no answer
  /// arrives within `limit`.
  public func resolve(
    within limit: Duration = .seconds(5)
  ) async throws(DiscoveryError) -> ResolvedService {
    // `resolve` looks for the composed name as well.
    let name = try fullNames()[0]
    return try await DiscoveryActor.shared(on: loop, interfaces).resolve(name, within: limit)
  }

  /// The service's current endpoints, followed by the new ones after each change, for example when
  /// an address is announced late. While the service cannot be resolved, no value is delivered.
  public var resolutions: LatestValues<ResolvedService> { LatestValues(of: watched) }

  /// The service's current TXT record, followed by each changed record. An empty record means that
  /// the service has none or is gone.
  public var txtRecords: LatestValues<TXTRecord> { LatestValues(of: watched) }

  private func watched() throws(DiscoveryError) -> (DiscoveryActor, [Name]) {
    let names = try fullNames()
    return (try DiscoveryActor.shared(on: loop, interfaces), names)
  }
}
