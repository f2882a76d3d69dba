import CaromDiscovery
import Foundation
import Synchronization

/// Browses for services, resolves each one, and reports the events until the input ends.
final class Browser: Sendable {
  private let browser: ServiceBrowser
  private let found = Mutex<[String: DiscoveredService]>([:])

  init(type: ServiceType, subtype: String?) {
    browser = ServiceBrowser(for: type, subtype: subtype, interfaces: Peer.interfaces)
  }

  func run() async {
    let watching = Task {
      for try await change in browser.changes { report(change) }
    }
    for await words in Peer.input() where words.first == "reconfirm" && words.count == 2 {
      await found.withLock { $0[words[1]] }?.reconfirm()
    }
    watching.cancel()
  }

  private func report(_ change: ServiceChange) {
    let service = change.service
    let event =
      switch change {
      case .added: "added"
      case .updated: "updated"
      case .removed: "removed"
      }
    Peer.emit(["event": event, "name": service.name, "txt": service.txt.description])
    guard case .added = change else { return }
    found.withLock { $0[service.name] = service }
    Task { await resolve(service) }
  }

  private func resolve(_ service: DiscoveredService) async {
    do throws(DiscoveryError) {
      let resolved = try await service.resolve(within: .seconds(5))
      Peer.emit([
        "event": "resolved", "name": service.name, "host": resolved.host,
        "txt": resolved.txt.description,
        "endpoints": resolved.endpoints.map(\.description).joined(separator: " "),
      ])
    } catch {
      Peer.emit(["event": "unresolved", "name": service.name, "text": error.description])
    }
  }
}
