import CaromDNS
import CaromDiscovery

/// Follows where one service listens: asks anew whenever its SRV record or an address of its host
/// comes or goes.
actor PlaceFollower {
  private let service: DiscoveredService
  private let interfaces: InterfaceSelection
  private let tell: @Sendable (ResolvedService?) -> Void
  private var host: String?
  private var addresses: Task<Void, Never>?

  init(
    _ service: DiscoveredService, interfaces: InterfaceSelection,
    tell: @escaping @Sendable (ResolvedService?) -> Void
  ) {
    self.service = service
    self.interfaces = interfaces
    self.tell = tell
  }

  /// Runs until the task is cancelled. Where no more records can be watched, the first answer
  /// stays.
  func run() async {
    await refresh()
    await watch(service.id.description, .srv)
    addresses?.cancel()
  }

  private func refresh() async {
    let place = try? await service.resolve()
    guard !Task.isCancelled else { return }
    tell(place)
    guard let place, place.host != host else { return }
    host = place.host
    addresses?.cancel()
    addresses = Task { await watchAddresses(of: place.host) }
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
