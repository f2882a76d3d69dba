import CaromCore
import CaromDNS

/// What a script has asked for, and what it was told: nothing twice, nothing after the end.
struct OpenRequests {
  var browses: [BrowseID: Set<Name>] = [:]
  var resolves: Set<ResolveID> = []
  var monitors: Set<MonitorID> = []
  /// How many records each query was told of that are still there.
  var queries: [QueryID: Int] = [:]

  mutating func note(_ event: Querier.Event) throws(MachineScript.Violation) {
    switch event {
    case .added(let id, let service): try add(service.name, to: id)
    case .nameAdded(let id, let name): try add(name.name, to: id)
    case .updated(let id, let service):
      guard browses[id]?.contains(service.name) == true else { throw .init("\(event) of nobody") }
    case .removed(let id, let service): try remove(service.name, from: id)
    case .nameRemoved(let id, let name): try remove(name.name, from: id)
    case .resolved(let id, _), .unresolved(let id, _):
      guard resolves.remove(id) != nil else { throw .init("a resolving ended twice") }
    case .text(let id, _):
      guard monitors.contains(id) else { throw .init("strings that nobody watches") }
    case .recordAdded(let id, _, _):
      guard queries[id] != nil else { throw .init("a record that nobody asks for") }
      queries[id, default: 0] += 1
    case .recordRemoved(let id, _, _):
      guard let count = queries[id], count > 0 else { throw .init("a record went twice") }
      queries[id] = count - 1
    case .recordDenied(let id, _):
      guard queries[id] != nil else { throw .init("a denial that nobody asks for") }
    }
  }

  private mutating func add(_ name: Name, to id: BrowseID) throws(MachineScript.Violation) {
    guard browses[id]?.insert(name).inserted == true else { throw .init("\(name) came twice") }
  }

  private mutating func remove(_ name: Name, from id: BrowseID) throws(MachineScript.Violation) {
    guard browses[id]?.remove(name) != nil else { throw .init("\(name) went twice") }
  }
}
