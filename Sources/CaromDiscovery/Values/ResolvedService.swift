import CaromCore
import CaromDNS

/// The endpoints that a service listened on when it was resolved.
public struct ResolvedService: Hashable, Sendable {
  /// The service's name as the service itself writes it. The name that was looked up may differ
  /// from it in the case of its letters and in its Unicode normalization.
  public let name: String
  /// The name of the service's host, such as "maya-carom.local".
  public let host: String
  /// The endpoints to connect to, best first. All of them belong to the same service. Link-local
  /// IPv6 addresses include their scope.
  public let endpoints: [Endpoint]
  /// The service's TXT record; empty if it has none.
  public let txt: TXTRecord
  /// The index of the interface on which the service was found; 0 if a name server supplied the
  /// answer.
  public let interface: UInt32

  init(_ resolution: Resolution) {
    name = resolution.name.labels.first.map { String(decoding: $0, as: UTF8.self) } ?? ""
    host = resolution.host.description
    endpoints = resolution.endpoints
    txt = resolution.text
    interface = resolution.interface
  }
}
