import CaromCore

extension Querier {
  /// An event that the querier reports to its caller.
  package enum Event: Hashable, Sendable {
    /// A service appeared. It is reported once, even if it is found on several links.
    case added(BrowseID, FoundService)
    /// The TXT record of a service changed.
    case updated(BrowseID, FoundService)
    /// A service disappeared: its host sent goodbye records, its records expired, or the cache
    /// evicted them.
    case removed(BrowseID, FoundService)
    /// A service type or a domain appeared. It is reported once, even if it is found on several
    /// links.
    case nameAdded(BrowseID, FoundName)
    /// A service type or a domain disappeared.
    case nameRemoved(BrowseID, FoundName)
    /// A service was resolved. This is the last event of the resolve operation, unless it monitors
    /// the endpoints.
    case resolved(ResolveID, Resolution)
    /// A service could not be resolved. This is the resolve operation's last event.
    case unresolved(ResolveID, ResolveFailure)
    /// A monitored TXT record appeared or changed, or, if the record is nil, disappeared.
    case text(MonitorID, TXTRecord?)
    /// A record appeared on an interface.
    case recordAdded(QueryID, Record, interface: UInt32)
    /// A record disappeared from an interface.
    case recordRemoved(QueryID, Record, interface: UInt32)
    /// The name's owner denied that it has a record of the queried type.
    case recordDenied(QueryID, interface: UInt32)

    /// The number of the browse, resolve, monitor or query operation to which the event belongs.
    var number: UInt64 {
      switch self {
      case .added(let id, _), .updated(let id, _), .removed(let id, _), .nameAdded(let id, _),
        .nameRemoved(let id, _):
        id.number
      case .resolved(let id, _), .unresolved(let id, _): id.number
      case .text(let id, _): id.number
      case .recordAdded(let id, _, _), .recordRemoved(let id, _, _), .recordDenied(let id, _):
        id.number
      }
    }
  }
}
