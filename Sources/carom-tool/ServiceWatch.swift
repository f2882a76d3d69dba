import CaromDNS
import CaromDiscovery

/// Watches for the services of a domain, and writes them to the output.
struct ServiceWatch: Sendable {
  let domain: Name
  let interfaces: InterfaceSelection
  /// Whether the endpoints of the services are tracked as well.
  let resolves: Bool
  let rows: ServiceRows
  let output: Output

  /// Returns the name to query for the services of a type, or for all service types if `type` is
  /// nil.
  func question(_ type: ServiceType?) throws -> Name {
    try type.map { try BrowseTarget.services($0, domain: domain).name() }
      ?? BrowseTarget.types(domain: domain).name()
  }

  /// Watches the services of one type until the task is cancelled.
  func run(_ type: ServiceType, subtype: String?) async throws {
    let browser = ServiceBrowser(
      for: type, subtype: subtype, domain: domain.description, interfaces: interfaces)
    var trackers: [DiscoveredService.ID: Task<Void, any Error>] = [:]
    defer { for tracker in trackers.values { tracker.cancel() } }
    for try await change in browser.changes {
      let service = change.service
      if case .removed = change { trackers.removeValue(forKey: service.id)?.cancel() }
      guard let number = rows.emit(change, to: output), resolves else { continue }
      trackers[service.id]?.cancel()
      trackers[service.id] = Task { [rows, output] in
        if (try? await service.resolve()) == nil, !Task.isCancelled {
          rows.emit(nil, of: service, number, to: output)
        }
        for try await resolved in service.resolutions {
          rows.emit(resolved, of: service, number, to: output)
        }
      }
    }
  }

  /// Watches the services of all types until the task is cancelled. Continues to watch a type that
  /// is no longer offered, since its last service may outlive the record that lists the type.
  func runAll() async throws {
    try await withThrowingDiscardingTaskGroup { group in
      var known: Set<ServiceType> = []
      for try await change in RecordQuery(
        try question(nil).description, .ptr, interfaces: interfaces
      ).changes {
        guard case .pointer(let name) = change.item.record.data,
          let type = try? TypeArgument(name.description).type, known.insert(type).inserted
        else { continue }
        group.addTask { try await run(type, subtype: nil) }
      }
    }
  }
}
