import CaromDNS

extension DiscoveryPoller {
  /// What a request has come to.
  public enum Event: Hashable, Sendable {
    /// The service is visible under this name, the asked one or another; again when it changes.
    case advertised(Request, name: String)
    /// A service came, changed or went.
    case service(Request, ServiceChange)
    /// A type of service came or went.
    case serviceType(Request, DiscoveryChange<DiscoveredServiceType>)
    /// A domain came or went.
    case domain(Request, DiscoveryChange<DiscoveredDomain>)
    /// A record came or went.
    case record(Request, DiscoveryChange<DiscoveredRecord>)
    /// The strings of a service, or others than before; empty where it has none, or is gone.
    case txt(Request, TXTRecord)
    /// Where the service listens; nothing follows.
    case resolved(Request, ResolvedService)
    /// An advertised service could not be changed so; it stays as it was.
    case refused(Request, DiscoveryError)
    /// It cannot be done, or not go on; nothing follows.
    case failed(Request, DiscoveryError)

    /// Whose event it is.
    public var request: Request {
      switch self {
      case .advertised(let request, _), .service(let request, _), .serviceType(let request, _),
        .domain(let request, _), .record(let request, _), .txt(let request, _),
        .resolved(let request, _),
        .refused(let request, _), .failed(let request, _):
        request
      }
    }

    /// Whether nothing follows.
    var isLast: Bool {
      switch self {
      case .resolved, .failed: true
      default: false
      }
    }

    var subject: Mailbox.Subject {
      let item: Mailbox.Subject.Item =
        switch self {
        case .service(_, let change): .service(change.item.id)
        case .serviceType(_, let change): .name(change.item.id)
        case .domain(_, let change): .name(change.item.id)
        case .record(_, let change): .record(change.item.id)
        case .refused: .refusal
        case .failed: .failure
        case .advertised, .txt, .resolved: .request
        }
      return Mailbox.Subject(request: request, item: item)
    }

    /// One event instead of two of the same subject that were not polled.
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
