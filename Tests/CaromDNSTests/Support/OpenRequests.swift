import CaromCore
import CaromDNS

/// What a script has asked for, in order, and what it was told: nothing twice, nothing after the
/// end.
struct OpenRequests {
  var browses: [(id: BrowseID, names: Set<Name>)] = []
  var resolves: [ResolveID] = []
  var monitors: [MonitorID] = []
  /// How many records each query was told of that are still there.
  var queries: [(id: QueryID, count: Int)] = []

  mutating func takeBrowse(_ choice: Int) -> BrowseID? {
    browses.isEmpty ? nil : browses.remove(at: choice % browses.count).id
  }

  mutating func takeResolve(_ choice: Int) -> ResolveID? {
    resolves.isEmpty ? nil : resolves.remove(at: choice % resolves.count)
  }

  mutating func takeQuery(_ choice: Int) -> QueryID? {
    queries.isEmpty ? nil : queries.remove(at: choice % queries.count).id
  }

  mutating func takeMonitor(_ choice: Int) -> MonitorID? {
    monitors.isEmpty ? nil : monitors.remove(at: choice % monitors.count)
  }

  mutating func note(_ event: Querier.Event) throws(MachineScript.Violation) {
    switch event {
    case .added(let id, let service): try add(service.name, to: id)
    case .nameAdded(let id, let name): try add(name.name, to: id)
    case .updated(let id, let service):
      guard browses.first(where: { $0.id == id })?.names.contains(service.name) == true else {
        throw .init("\(service.name) changed and was not there")
      }
    case .removed(let id, let service): try remove(service.name, from: id)
    case .nameRemoved(let id, let name): try remove(name.name, from: id)
    case .resolved(let id, _), .unresolved(let id, _):
      guard let index = resolves.firstIndex(of: id) else { throw .init("a resolving ended twice") }
      resolves.remove(at: index)
    case .text(let id, _):
      guard monitors.contains(id) else { throw .init("strings that nobody watches") }
    case .recordAdded(let id, _, _): try count(1, id)
    case .recordRemoved(let id, _, _): try count(-1, id)
    case .recordDenied(let id, _): try count(0, id)
    }
  }

  private mutating func count(_ change: Int, _ id: QueryID) throws(MachineScript.Violation) {
    guard let index = queries.firstIndex(where: { $0.id == id }) else {
      throw .init("a record that nobody asks for")
    }
    queries[index].count += change
    guard queries[index].count >= 0 else { throw .init("a record went twice") }
  }

  private mutating func add(_ name: Name, to id: BrowseID) throws(MachineScript.Violation) {
    guard let index = browses.firstIndex(where: { $0.id == id }),
      browses[index].names.insert(name).inserted
    else { throw .init("\(name) came twice") }
  }

  private mutating func remove(_ name: Name, from id: BrowseID) throws(MachineScript.Violation) {
    guard let index = browses.firstIndex(where: { $0.id == id }),
      browses[index].names.remove(name) != nil
    else { throw .init("\(name) went twice") }
  }
}
