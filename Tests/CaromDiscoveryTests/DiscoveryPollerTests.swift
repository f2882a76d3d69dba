import CaromCore
import CaromDNS
import CaromTransport
import Testing

@testable import CaromDiscovery

@Suite(.timeLimit(.minutes(1))) struct DiscoveryPollerTests {
  /// Frames of a game until one brings an event of `request`.
  private func frames(
    _ poller: DiscoveryPoller, until request: DiscoveryPoller.Request
  ) async -> DiscoveryPoller.Event {
    while true {
      while let event = poller.poll() {
        if event.request == request { return event }
      }
      await Task.yield()
    }
  }

  @Test func `a service is published, found, resolved, changed and removed, frame by frame`()
    async throws
  {
    let type = try Loopback.makeType()
    try await withNetworkLoop { here in
      try await withNetworkLoop { there in
        let host = try DiscoveryPoller(interfaces: Loopback.selection, on: there)
        let guest = try DiscoveryPoller(interfaces: Loopback.selection, on: here)
        let browsing = guest.browse(type)
        let table = host.advertise(Loopback.makeService(type, "X"))
        #expect(await frames(host, until: table) == .advertised(table, name: "X"))
        guard case .service(_, .added(let found)) = await frames(guest, until: browsing) else {
          return fail()
        }
        let resolving = guest.resolve(found)
        guard case .resolved(_, let place) = await frames(guest, until: resolving) else {
          return fail()
        }
        #expect(place.endpoints == [Endpoint(.loopback4, port: 7777)])
        let strings = guest.monitor(found)
        _ = await frames(guest, until: strings)
        host.update(table, txt: ["seats": "2/2"])
        #expect(await frames(guest, until: strings) == .txt(strings, ["seats": "2/2"]))
        host.close()
        while case .service(_, let change) = await frames(guest, until: browsing) {
          if case .removed = change { break }
        }
        guest.close()
        #expect(host.poll() == nil && guest.poll() == nil)
      }
    }
  }

  @Test func `what goes wrong is an event, and the last one`() async throws {
    let type = try Loopback.makeType()
    try await withNetworkLoop { loop in
      let poller = try DiscoveryPoller(interfaces: Loopback.selection, on: loop)
      let wrong = poller.advertise(Loopback.makeService(type, "\u{7}"))
      #expect(await frames(poller, until: wrong) == .failed(wrong, .nameInvalid))
      let table = poller.advertise(Loopback.makeService(type, "X"))
      poller.rename(table, to: "")
      #expect(await frames(poller, until: table) == .updateFailed(table, .nameMissing))
      #expect(await frames(poller, until: table) == .advertised(table, name: "X"))
      let nowhere = try DiscoveryPoller(interfaces: .named(["nowhere0"]), on: loop)
      let browsing = nowhere.browse(type)
      #expect(
        await frames(nowhere, until: browsing) == .failed(browsing, .noSuchInterface("nowhere0")))
    }
  }

  @Test func `a cancelled request tells nothing, and dropping the poller withdraws its services`()
    async throws
  {
    let type = try Loopback.makeType()
    try await withNetworkLoop { here in
      try await withNetworkLoop { there in
        var changes = Loopback.browser(type, here).changes.makeAsyncIterator()
        var poller: DiscoveryPoller? = try DiscoveryPoller(
          interfaces: Loopback.selection, on: there)
        let browsing = poller?.browse(type)
        browsing.map { poller?.cancel($0) }
        _ = poller?.advertise(Loopback.makeService(type, "X"))
        guard case .added = try await changes.next() else { return fail() }
        while let event = poller?.poll() { #expect(event.request != browsing) }
        poller = nil
        guard case .removed = try await changes.next() else { return fail() }
      }
    }
  }
}
