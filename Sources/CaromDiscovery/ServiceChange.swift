/// What browsing has to tell.
public enum ServiceChange: Hashable, Sendable {
  /// A service is there: once, on however many interfaces it is heard.
  case added(DiscoveredService)
  /// Its strings changed.
  case updated(DiscoveredService)
  /// It said goodbye, or was not heard of for as long as it allowed; once.
  case removed(DiscoveredService)

  /// The service that it is about.
  public var service: DiscoveredService {
    switch self {
    case .added(let service), .updated(let service), .removed(let service): service
    }
  }
}
