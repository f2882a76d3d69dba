import CaromTransport

/// Why Agones does not tell where players reach a game server.
public enum AgonesEndpointError: Error, Hashable, Sendable {
  /// The sidecar has not answered in time. This is the last reason.
  case sidecar(AgonesError)
  /// Agones has not given the server an address and a port in time.
  case noAddress
  /// The server has no port of this name.
  case noSuchPort(String)
  /// The name that Agones tells in place of an address cannot be looked up.
  case unknownHost(String, TransportError)
  /// Players cannot connect to the address that Agones tells.
  case unusableAddress(String)
}

extension AgonesEndpointError: CustomStringConvertible {
  /// A line for users that says what happened and what to do.
  public var description: String {
    switch self {
    case .sidecar(let error): "\(error)"
    case .noAddress:
      "Agones tells no address and port of this server: check the ports in its manifest"
    case .noSuchPort(let name):
      "Agones tells no port named \(name): give the name that the manifest has"
    case .unknownHost(let host, let error):
      "the name \(host) that Agones tells cannot be looked up (\(error)): check the cluster's DNS"
    case .unusableAddress(let host):
      "players cannot connect to the address \(host) that Agones tells: check the node's address"
    }
  }
}
