import CaromCore
import CaromDNS

/// The requests that a script has made, checked against their events: nothing is reported twice,
/// and nothing after the end of a request.
struct OpenRequests {
  var browses: [(id: BrowseID, names: Set<Name>)] = []
  var resolves: [ResolveID] = []
  var monitors: [MonitorID] = []
  /// The number of present records reported to each query.
  var queries: [(id: QueryID, count: Int)] = []

  mutating func removeBrowse(_ choice: Int) -> BrowseID? {
    browses.isEmpty ? nil : browses.remove(at: choice % browses.count).id
  }

  mutating func removeResolve(_ choice: Int) -> ResolveID? {
    resolves.isEmpty ? nil : resolves.remove(at: choice % resolves.count)
  }

  mutating func removeQuery(_ choice: Int) -> QueryID? {
    queries.isEmpty ? nil : queries.remove(at: choice % queries.count).id
  }

  mutating func removeMonitor(_ choice: Int) -> MonitorID? {
    monitors.isEmpty ? nil : monitors.remove(at: choice % monitors.count)
  }

  mutating func record(_ event: Querier.Event) throws(MachineScript.Violation) {
    switch event {
    case .added(let id, let service): try add(service.name, to: id)
    case .nameAdded(let id, let name): try add(name.name, to: id)
    case .updated(let id, let service):
      guard browses.first(where: { $0.id == id })?.names.contains(service.name) == true else {
        throw .init("\(service.name) was updated but not present")
      }
    case .removed(let id, let service): try remove(service.name, from: id)
    case .nameRemoved(let id, let name): try remove(name.name, from: id)
    case .resolved(let id, _), .unresolved(let id, _):
      guard let index = resolves.firstIndex(of: id) else { throw .init("a resolve ended twice") }
      resolves.remove(at: index)
    case .text(let id, _):
      guard monitors.contains(id) else { throw .init("a TXT record for a stopped monitor") }
    case .recordAdded(let id, _, _): try count(1, id)
    case .recordRemoved(let id, _, _): try count(-1, id)
    case .recordDenied(let id, _): try count(0, id)
    }
  }

  private mutating func count(_ change: Int, _ id: QueryID) throws(MachineScript.Violation) {
    guard let index = queries.firstIndex(where: { $0.id == id }) else {
      throw .init("a record for a stopped query")
    }
    queries[index].count += change
    guard queries[index].count >= 0 else { throw .init("a record was removed twice") }
  }

  private mutating func add(_ name: Name, to id: BrowseID) throws(MachineScript.Violation) {
    guard let index = browses.firstIndex(where: { $0.id == id }),
      browses[index].names.insert(name).inserted
    else { throw .init("\(name) was added twice, or to a stopped browse") }
  }

  private mutating func remove(_ name: Name, from id: BrowseID) throws(MachineScript.Violation) {
    guard let index = browses.firstIndex(where: { $0.id == id }),
      browses[index].names.remove(name) != nil
    else { throw .init("\(name) was removed twice, or from a stopped browse") }
  }
}
