import CaromCore
import CaromProtocol
import CaromTransport
import Testing

@testable import CaromSession

struct DataChannelOfferTests {
  /// Whether a host with these links and options offers pages data channels.
  private func offers(
    over kinds: LinkKinds = [.datagram, .webSocket], _ options: BrowserOptions = BrowserOptions(),
    routing: SessionRouting = SessionRouting()
  ) async throws -> Bool {
    try await withNetworkLoop { loop in
      let host = SessionNode(
        makePeer("host"), seats: 1, over: kinds, browsers: options, routing: routing, on: loop)
      let port = try await host.listen(on: [.loopback4])
      let offer = await host.makeOffer(at: Endpoint(.loopback4, port: port))
      await host.shutdown()
      return offer != nil
    }
  }

  @Test func `a host offers data channels if a browser's datagrams can reach it`() async throws {
    #expect(try await offers())
    #expect(try await !offers(over: [.stream, .webSocket]))
    #expect(try await !offers(BrowserOptions(allowsDataChannels: false)))
  }

  @Test func `a host that adds bytes to its datagrams offers none`() async throws {
    let bytes = try DatagramRouting.prefix([9])
    #expect(try await !offers(routing: SessionRouting(sent: bytes)))
    #expect(try await offers(routing: SessionRouting(received: bytes)))
  }
}
