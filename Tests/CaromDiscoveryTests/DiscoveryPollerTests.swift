import CaromCore
import CaromDNS
import CaromTransport
import Testing

@testable import CaromDiscovery

@Suite(.timeLimit(.minutes(1))) struct DiscoveryPollerTests {
  /// Polls like a game's frame loop until an event of `request` arrives.
  private func frames(
    _ poller: DiscoveryPoller, until request: DiscoveryPoller.Request
  ) async throws -> DiscoveryPoller.Event {
    while true {
      while let event = poller.poll() {
        if event.request == request { return event }
      }
      try await Task.sleep(for: .milliseconds(1))  // a fast frame
    }
  }

  @Test func `polling reports that a service is published, found, resolved, changed and removed`()
    async throws
  {
    let type = try Loopback.makeType()
    try await withNetworkLoop { here in
      try await withNetworkLoop { there in
        let host = try DiscoveryPoller(interfaces: Loopback.selection, on: there)
        let client = try DiscoveryPoller(interfaces: Loopback.selection, on: here)
        let browsing = client.browse(type)
        let match = host.advertise(Loopback.makeService(type, "X"))
        #expect(try await frames(host, until: match) == .advertised(match, name: "X"))
        guard case .service(_, .added(let found)) = try await frames(client, until: browsing) else {
          return fail()
        }
        let resolving = client.resolve(found)
        guard case .resolved(_, let resolved) = try await frames(client, until: resolving) else {
          return fail()
        }
        #expect(resolved.endpoints == [Endpoint(.loopback4, port: 7777)])
        let monitoring = client.monitor(found)
        _ = try await frames(client, until: monitoring)
        host.update(match, txt: ["seats": "2/2"])
        #expect(try await frames(client, until: monitoring) == .txt(monitoring, ["seats": "2/2"]))
        host.close()
        while case .service(_, let change) = try await frames(client, until: browsing) {
          if case .removed = change { break }
        }
        client.close()
        #expect(host.poll() == nil && client.poll() == nil)
      }
    }
  }

  @Test func `errors are reported as events`() async throws {
    let type = try Loopback.makeType()
    try await withNetworkLoop { loop in
      let poller = try DiscoveryPoller(interfaces: Loopback.selection, on: loop)
      let wrong = poller.advertise(Loopback.makeService(type, "\u{7}"))
      #expect(try await frames(poller, until: wrong) == .failed(wrong, .nameInvalid))
      let match = poller.advertise(Loopback.makeService(type, "X"))
      poller.rename(match, to: "")
      #expect(try await frames(poller, until: match) == .updateFailed(match, .nameMissing))
      #expect(try await frames(poller, until: match) == .advertised(match, name: "X"))
      let nowhere = try DiscoveryPoller(interfaces: .named(["nowhere0"]), on: loop)
      let browsing = nowhere.browse(type)
      #expect(
        try await frames(nowhere, until: browsing)
          == .failed(browsing, .noSuchInterface("nowhere0")))
    }
  }

  @Test func `a cancelled request reports no events; releasing the poller withdraws its services`()
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
