import Carom
import Testing

@Suite(.turns) struct FoundSessionTests {
  @Test func `a session that is hosted under a name is found and joined`() async throws {
    try await withNetworkLoop { loop in
      let interfaces = InterfaceSelection.named(["lo"])
      let service = AdvertisedService(
        name: AdvertisedService.uniqueName("Maya's chat"), type: "_caromtest._tcp", port: 0,
        isNameUnique: true)
      try await Session.host(
        service, as: makePeer("Maya"), interfaces: interfaces, on: [.loopback4], loop: loop
      ) { _, advertisement in
        let browser = ServiceBrowser(for: "_caromtest._tcp", interfaces: interfaces, on: loop)
        for try await change in browser.changes {
          guard case .added(let found) = change, found.name == advertisement.name else { continue }
          let name = try await Session.join(found, as: makePeer("Leo"), loop: loop) { $1.name }
          #expect(name == "Maya")
          return
        }
      }
    }
  }

  private func makePeer(_ name: String) -> PeerInfo {
    PeerInfo(id: .random(), name: name, application: "chat")
  }
}
