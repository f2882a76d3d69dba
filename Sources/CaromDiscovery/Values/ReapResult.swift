/// What `DomainReaper` did in one pass over a domain.
public struct ReapResult: Hashable, Sendable {
  /// A service that was removed.
  public struct RemovedService: Hashable, Sendable {
    /// The service's name as users see it.
    public var name: String
    /// The full name, such as "Maya's match._airhockey._tcp.play.example.com".
    public var fullName: String
  }

  /// The services that were removed because their leases had ended, in the order in which the
  /// domain lists them.
  public internal(set) var removed: [RemovedService] = []
  /// The number of services whose leases have not ended.
  public internal(set) var leased = 0
  /// The number of services without a lease, which are never removed.
  public internal(set) var unleased = 0
}
