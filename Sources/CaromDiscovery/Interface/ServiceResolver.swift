import CaromDNS
import CaromTransport

/// A service that is known by its name, such as one that was found earlier and remembered: where
/// it listens now, and its strings.
public struct ServiceResolver: Sendable {
  /// What people see.
  public let name: String
  /// What it speaks.
  public let type: ServiceType
  /// Where it is: "local" is the link.
  public let domain: String
  private let interfaces: InterfaceSelection
  private let loop: NetworkLoop?

  /// Asks nothing yet. Without a loop it runs on one that the program shares.
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

  private func fullName() throws(DiscoveryError) -> Name {
    do throws(InstanceNameError) { try InstanceName.validate(name) } catch {
      throw DiscoveryError(error)
    }
    let search = try ServiceSearch(type, subtype: nil, domain: domain)
    guard let name = try? search.target.name().prefixed(by: name) else { throw .nameInvalid }
    return name
  }

  /// Learns where it listens now. Throws `timedOut` where nobody answers in time.
  public func resolve(
    within limit: Duration = .seconds(5)
  ) async throws(DiscoveryError) -> ResolvedService {
    let name = try fullName()
    return try await DiscoveryActor.shared(on: loop, interfaces).resolve(name, within: limit)
  }

  /// Its strings as they are and as they change; empty where it has none, or is gone.
  public var txtRecords: Latest<TXTRecord> {
    Latest {
      Latest.watch { [self] () throws(DiscoveryError) in
        let name = try fullName()
        return (try DiscoveryActor.shared(on: loop, interfaces), name)
      }
    }
  }
}

extension Latest<TXTRecord> {
  /// Watches the strings of the service that `find` names.
  static func watch(
    _ find: @escaping @Sendable () throws(DiscoveryError) -> (DiscoveryActor, Name)
  ) -> Feed<Int, TXTRecord>.Reader {
    Feed.read(makeFeed()) { send, finish throws(DiscoveryError) in
      let (discovery, name) = try find()
      let handle = try await discovery.monitor(name) { result in
        switch result {
        case .success(let text): send(text ?? [:], 0, discovery.loop)
        case .failure(let error): finish(error)
        }
      }
      return { await discovery.stop(handle) }
    }
  }
}
