import CaromCore
import CaromDNS

/// A domain outside the link in which services are registered (RFC 2136), and how.
public struct RegistrationDomain: Sendable {
  /// The lease of a service if none is given.
  public static let defaultLease = Duration.seconds(600)
  /// The permitted leases.
  public static let leases = DomainRegistration.leases

  /// The domain, such as "play.example.com". If it is nil, the domain is used that the name servers
  /// recommend for registering services (`dr._dns-sd._udp` and `r._dns-sd._udp`, RFC 6763 §11).
  public var name: String?
  /// The key that the zone's name server accepts.
  public var key: UpdateKey
  /// The zone's primary name server. If it is nil, the server is used that the zone announces as
  /// `_dns-update._udp`, and if there is none, the system's name servers.
  public var server: Endpoint?
  /// The time after which a service that is not renewed counts as expired, 10 seconds to a day. A
  /// running program renews its services at half of this time; `DomainReaper` removes those that
  /// have expired.
  public var lease: Duration

  /// Creates a description of a domain. Nothing is sent.
  public init(
    _ name: String? = nil, key: UpdateKey, server: Endpoint? = nil,
    lease: Duration = defaultLease
  ) {
    precondition(Self.leases.contains(lease), "a lease lasts from 10 seconds to a day")
    self.name = name
    self.key = key
    self.server = server
    self.lease = lease
  }
}
