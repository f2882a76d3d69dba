import CaromCore
import CaromDNS

/// Where a service listens, as it was at that moment.
public struct ResolvedService: Hashable, Sendable {
  /// Its host: "maya-carom.local".
  public let host: String
  /// Where to connect to, the best first; all of them are the same service. Link-local IPv6
  /// addresses carry their scope.
  public let endpoints: [Endpoint]
  /// The strings beside it; empty where it has none.
  public let txt: TXTRecord
  /// The index of the interface that it was heard on.
  public let interface: UInt32

  init(_ resolution: Resolution) {
    host = resolution.host.description
    endpoints = resolution.endpoints
    txt = resolution.text
    interface = resolution.interface
  }
}
