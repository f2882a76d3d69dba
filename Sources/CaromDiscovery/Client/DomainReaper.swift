import CaromTransport

/// Removes services from a domain whose programs have ended without removing them.
///
/// Each service has a lease, which its program renews (`RegistrationDomain.lease`). A service is
/// removed only if its lease has ended by the clock of the zone's name server; a service without a
/// lease is never removed. Any number of reapers may run.
public struct DomainReaper: Sendable {
  private let domain: RegistrationDomain
  private let loop: NetworkLoop?

  /// Creates a reaper without sending anything. If `loop` is nil, the loop that the whole program
  /// shares is used.
  public init(_ domain: RegistrationDomain, on loop: NetworkLoop? = nil) {
    self.domain = domain
    self.loop = loop
  }

  /// Makes one pass over the domain. Throws a `DiscoveryError` if the zone cannot be read or
  /// changed.
  public func reap() async throws(DiscoveryError) -> ReapResult {
    try await DiscoveryActor.shared(on: loop, .automatic).reap(domain)
  }
}
