import CaromDNS

extension DiscoveryPoller {
  /// An event that a request reports.
  public enum Event: Hashable, Sendable {
    /// The advertised service is visible under `name`. Reported again when the service's name
    /// changes.
    case advertised(Request, name: String)
    /// A service was added, updated or removed.
    case service(Request, ServiceChange)
    /// A service type was added or removed.
    case serviceType(Request, DiscoveryChange<DiscoveredServiceType>)
    /// A domain was added, updated or removed.
    case domain(Request, DiscoveryChange<DiscoveredDomain>)
    /// A record was added or removed.
    case record(Request, DiscoveryChange<DiscoveredRecord>)
    /// The TXT record of a monitored service was received or changed. The record is empty while the
    /// service has none or is gone.
    case txt(Request, TXTRecord)
    /// The service was resolved to the endpoints at which it can be reached. This ends the request.
    case resolved(Request, ResolvedService)
    /// An `update` or `rename` of an advertised service failed; the service stays unchanged.
    case updateFailed(Request, DiscoveryError)
    /// The request cannot start or continue, and ends.
    case failed(Request, DiscoveryError)

    /// The request to which the event belongs.
    public var request: Request {
      switch self {
      case .advertised(let request, _), .service(let request, _), .serviceType(let request, _),
        .domain(let request, _), .record(let request, _), .txt(let request, _),
        .resolved(let request, _),
        .updateFailed(let request, _), .failed(let request, _):
        request
      }
    }

    /// Whether this event is the last event of its request.
    var isLast: Bool {
      switch self {
      case .resolved, .failed: true
      default: false
      }
    }

    /// The subject by which unread events are merged.
    var subject: PollerRequests.Subject {
      let item: PollerRequests.Subject.Item =
        switch self {
        case .service(_, let change): .service(change.item.id)
        case .serviceType(_, let change): .name(change.item.id)
        case .domain(_, let change): .name(change.item.id)
        case .record(_, let change): .record(change.item.id)
        case .updateFailed: .updateFailure
        case .failed: .failure
        case .advertised, .txt, .resolved: .request
        }
      return PollerRequests.Subject(request: request, item: item)
    }

    /// Merges this unread event with the next event about the same subject. Returns nil if the two
    /// cancel out.
    func merged(with next: Event) -> Event? {
      switch (self, next) {
      case (.service(_, let old), .service(let request, let new)):
        old.merged(with: new).map { .service(request, $0) }
      case (.serviceType(_, let old), .serviceType(let request, let new)):
        old.merged(with: new).map { .serviceType(request, $0) }
      case (.domain(_, let old), .domain(let request, let new)):
        old.merged(with: new).map { .domain(request, $0) }
      case (.record(_, let old), .record(let request, let new)):
        old.merged(with: new).map { .record(request, $0) }
      default: next
      }
    }
  }
}
