import CaromDNS
import CaromDiscovery

/// Tracks the endpoints of one service: resolves it again whenever its SRV record or an address of
/// its host changes.
actor EndpointTracker {
  private let service: DiscoveredService
  private let interfaces: InterfaceSelection
  private let report: @Sendable (ResolvedService?) -> Void
  private var host: String?
  private var addresses: Task<Void, Never>?

  init(
    _ service: DiscoveredService, interfaces: InterfaceSelection,
    report: @escaping @Sendable (ResolvedService?) -> Void
  ) {
    self.service = service
    self.interfaces = interfaces
    self.report = report
  }

  /// Runs until the task is cancelled. If no further records can be watched, only the first result
  /// is reported.
  func run() async {
    await refresh()
    await watch(service.id.description, .srv)
    addresses?.cancel()
  }

  private func refresh() async {
    let resolved = try? await service.resolve()
    guard !Task.isCancelled else { return }
    report(resolved)
    guard let resolved, resolved.host != host else { return }
    host = resolved.host
    addresses?.cancel()
    addresses = Task { await watchAddresses(of: resolved.host) }
  }

  private func watchAddresses(of host: String) async {
    await withTaskGroup(of: Void.self) { group in
      for type in [RecordType.a, .aaaa] {
        group.addTask { await self.watch(host, type) }
      }
    }
  }

  private func watch(_ name: String, _ type: RecordType) async {
    do {
      for try await _ in RecordQuery(name, type, interfaces: interfaces).batches {
        await refresh()
      }
    } catch { return }
  }
}
