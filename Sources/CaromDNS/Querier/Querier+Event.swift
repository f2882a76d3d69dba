import CaromCore

extension Querier {
  /// What the user is told.
  package enum Event: Hashable, Sendable {
    /// A service is there; once, on however many links.
    case added(BrowseID, FoundService)
    /// Its strings are others.
    case updated(BrowseID, FoundService)
    /// It said goodbye, or was not heard of for as long as its records allow, or there was no
    /// room left to remember it.
    case removed(BrowseID, FoundService)
    /// A type or a domain is there; once, on however many links.
    case nameAdded(BrowseID, FoundName)
    /// It is no longer.
    case nameRemoved(BrowseID, FoundName)
    /// Where it listens; the last event of a resolving.
    case resolved(ResolveID, Resolution)
    /// Why it is not known; the last event of a resolving.
    case unresolved(ResolveID, ResolveFailure)
    /// The strings of a service, or others than before; `nil` where they are gone.
    case text(MonitorID, TXTRecord?)
    /// A record is there; once for each interface.
    case recordAdded(QueryID, Record, interface: UInt32)
    /// It is gone from there.
    case recordRemoved(QueryID, Record, interface: UInt32)
    /// The name's owner says that it has no record of the type.
    case recordDenied(QueryID, interface: UInt32)

    /// Whom it is for.
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
