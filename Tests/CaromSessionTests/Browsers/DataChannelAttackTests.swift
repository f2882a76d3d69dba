import CaromCore
import CaromProtocol
import CaromTransport
import Testing

@testable import CaromSession

/// Pages and neighbours that do what they should not.
struct DataChannelAttackTests {
  /// A data packet of the session, as far as its first byte tells.
  private static let packet: [UInt8] = [0x18] + [UInt8](repeating: 7, count: 39)

  private func withWorld(_ body: (ChannelWorld) throws -> Void) async throws {
    try await withNetworkLoop { loop in try body(try ChannelWorld(on: loop)) }
  }

  @Test func `a page opens a channel, and its messages are the session's datagrams`() async throws {
    try await withWorld { world in
      let page = try world.makePage(port: 1_001)
      world.open(page, world.makeOffer())
      #expect(page.isOpen && world.channels.openedCount == 1)
      page.send(Self.packet, at: world.now)
      world.run()
      #expect(world.delivered.map(\.bytes) == [Self.packet])
      #expect(world.delivered[0].route == Route(throughChannel: page.endpoint, socket: 0))
      world.reply([1, 2, 3], to: page)
      #expect(page.received == [[1, 2, 3]])
      world.closeAll()
      #expect(page.hasEnded && world.channels.isEmpty)
      #expect(world.channels.takeEnded() == [Route(throughChannel: page.endpoint, socket: 0)])
    }
  }

  @Test func `checks without the password, or of an old offer, have no answer`() async throws {
    try await withWorld { world in
      let page = try world.makePage(port: 1_001)
      let offer = world.makeOffer()
      world.send(page.makeCheck(offer, password: "wrong"), from: page.endpoint)
      // The time in a name cannot be changed: the password is that of another name.
      let other = DataChannels.Offer(
        address: offer.address, port: offer.port, name: "AAAAAAAAAAAAAAAA",
        password: offer.password, fingerprint: offer.fingerprint)
      world.send(page.makeCheck(other), from: page.endpoint)
      world.now = world.now + .seconds(61)
      world.send(page.makeCheck(offer), from: page.endpoint)
      #expect(world.sent.isEmpty && world.channels.isEmpty)
    }
  }

  @Test func `a channel that does not open, or that nobody uses, ends after ten seconds`()
    async throws
  {
    try await withWorld { world in
      let silent = try ChannelPage(port: 1_001, world.identity)
      let offer = world.makeOffer()
      world.send(silent.makeCheck(offer), from: silent.endpoint)
      let page = try world.makePage(port: 1_002)
      let used = world.makeOffer()
      world.open(page, used)
      let idle = try world.makePage(port: 1_003)
      let unused = world.makeOffer()
      world.open(idle, unused)
      world.reply(Self.packet, to: page)
      // What the host says to everybody is no use.
      world.reply([0x81, 1, 2], to: idle)
      world.now = world.now + .milliseconds(9_900)
      for each in [offer, used, unused] { world.advance(each) }
      world.run()
      #expect(world.channels.takeEnded().isEmpty && !idle.hasEnded)
      world.now = world.now + .milliseconds(200)
      for each in [offer, used, unused] { world.advance(each) }
      world.run()
      #expect(!page.hasEnded && idle.hasEnded)
      #expect(world.channels.takeEnded().map(\.endpoint) == [idle.endpoint])
      world.closeAll()
      #expect(world.channels.takeEnded().map(\.endpoint) == [page.endpoint])
    }
  }

  /// Checks may have a false sender, so they must not take a path from a player.
  @Test func `a check in a player's name takes nothing from the player`() async throws {
    try await withWorld { world in
      let player = Endpoint(.loopback4, port: 2_000)
      let page = try world.makePage(port: 1_001)
      let offer = world.makeOffer()
      world.open(page, offer)
      world.send(page.makeCheck(offer), from: player)
      world.send(page.makeCheck(world.makeOffer()), from: player)
      // Each may look like a record of DTLS in its first byte.
      for first in 0..<128 {
        world.send([UInt8(first)] + Self.packet.dropFirst(), from: player)
      }
      #expect(world.leftToSession == 128)
      world.closeAll()
      #expect(world.channels.takeEnded().map(\.endpoint) == [page.endpoint])
    }
  }

  @Test func `a check in a page's name does not take its channel`() async throws {
    try await withWorld { world in
      let (page, thief) = (try world.makePage(port: 1_001), try world.makePage(port: 1_002))
      world.open(page, world.makeOffer())
      let offer = world.makeOffer()
      world.open(thief, offer)
      world.run()
      world.send(thief.makeCheck(offer), from: page.endpoint)
      world.send(thief.makeCheck(world.makeOffer()), from: page.endpoint)
      #expect(world.sent.isEmpty && world.channels.takeEnded().isEmpty)
      page.send(Self.packet, at: world.now)
      world.run()
      #expect(world.delivered.count == 1)
      // A page that is silent may have been replaced by another one.
      world.now = world.now + .seconds(6)
      let next = try world.makePage(port: 1_001)
      world.open(next, world.makeOffer())
      #expect(next.isOpen)
      #expect(world.channels.takeEnded().map(\.endpoint) == [page.endpoint])
    }
  }

  @Test func `what is not encrypted is dropped at the address of a channel`() async throws {
    try await withWorld { world in
      let page = try world.makePage(port: 1_001)
      world.open(page, world.makeOffer())
      for first in 0..<256 {
        world.send([UInt8(first)] + Self.packet.dropFirst(), from: page.endpoint)
      }
      world.send([], from: page.endpoint)
      // An alert, a new handshake, and records that seem to be encrypted, but are not.
      let alert: [UInt8] = [21, 0xFE, 0xFD, 0, 0, 0, 0, 0, 0, 0, 9, 0, 2, 2, 40]
      let other = try ChannelPage(port: 1_001, world.identity)
      for datagram in [alert] + other.takeOutput(at: world.now) {
        world.send(datagram, from: page.endpoint)
      }
      for type in UInt8(20)..<64 {
        for epoch in [UInt8(0), 1, 2] {
          let head = [type, 0xFE, 0xFD, 0, epoch, 0, 0, 0, 0, epoch, type, 0, 60]
          world.send(head + [UInt8](repeating: type, count: 60), from: page.endpoint)
        }
      }
      #expect(world.leftToSession == 0 && world.delivered.isEmpty)
      page.send(Self.packet, at: world.now)
      world.run()
      #expect(world.delivered.count == 1 && !page.hasEnded)
    }
  }

  @Test func `a check that somebody else sends again does not move a channel`() async throws {
    try await withWorld { world in
      let page = try world.makePage(port: 1_001)
      let offer = world.makeOffer()
      let check = page.makeCheck(offer)
      world.open(page, offer)
      world.reply(Self.packet, to: page)
      for port in UInt16(3_000)..<3_020 {
        world.send(check, from: Endpoint(.loopback4, port: port))
        world.send(
          [23, 0xFE, 0xFD] + [UInt8](repeating: 1, count: 60),
          from: Endpoint(.loopback4, port: port))
      }
      world.reply([5], to: page)
      #expect(page.received == [Self.packet, [5]])
      page.send(Self.packet, at: world.now)
      world.run()
      #expect(world.delivered.map(\.route.endpoint) == [page.endpoint])
    }
  }

  @Test func `a page may begin at another address than that of its first check`() async throws {
    try await withWorld { world in
      let page = try world.makePage(port: 1_001)
      let offer = world.makeOffer()
      world.send(page.makeCheck(offer), from: Endpoint(.loopback4, port: 1_000))
      world.open(page, offer)
      #expect(page.isOpen)
    }
  }

  /// A handshake that begins with a false sender must not become a flood of its victim.
  @Test func `who does not answer gets little`() async throws {
    try await withWorld { world in
      let page = try world.makePage(port: 1_001)
      let offer = world.makeOffer()
      let victim = Endpoint(.loopback4, port: 4_000)
      let datagrams = [page.makeCheck(offer)] + page.takeOutput(at: world.now)
      for datagram in datagrams { world.send(datagram, from: victim) }
      for _ in 0..<20 { world.advance(offer, by: .milliseconds(500)) }
      #expect(world.channels.isEmpty)
      let count = datagrams.reduce(0) { $0 + $1.count }
      #expect(world.countBytes(to: victim) <= 3 * count + 64)
    }
  }

  @Test func `the session's datagrams go only where the session has asked for a proof`()
    async throws
  {
    try await withWorld { world in
      let page = try world.makePage(port: 1_001)
      let offer = world.makeOffer()
      world.open(page, offer)
      let victim = Endpoint(.loopback4, port: 4_000)
      world.send(page.makeCheck(offer), from: victim)
      page.send(Self.packet, at: world.now)
      world.send(outputOf: page, from: victim)
      #expect(world.delivered.map(\.route.endpoint) == [victim])
      let before = world.countBytes(to: victim)
      world.reply(Self.packet, to: page)
      #expect(page.received == [Self.packet])
      #expect(world.countBytes(to: victim) <= before)
      // The page may go on there, once it has received something.
      world.channels.send(
        Self.packet.span, to: Route(throughChannel: victim, socket: 0), at: world.now
      ) { bytes, endpoint, _ in #expect(endpoint == victim && bytes.count > Self.packet.count) }
    }
  }

  @Test func `handshakes are limited, and only begin with a ClientHello`() async throws {
    try await withWorld { world in
      let real = try world.makePage(port: 1_001)
      let hello = real.takeOutput(at: world.now)[0]
      for port in UInt16(5_000)..<5_100 {
        let source = Endpoint(.loopback4, port: port)
        world.send(real.makeCheck(world.makeOffer()), from: source)
        world.send([22, 0xFE, 0xFD] + [UInt8](repeating: 0, count: 100), from: source)
      }
      let before = world.sent.count
      #expect(before == 100)
      for port in UInt16(5_000)..<5_100 {
        world.send(hello, from: Endpoint(.loopback4, port: port))
      }
      let flights = Set(world.sent.dropFirst(before).map(\.to))
      #expect(flights.count == 32)
      world.closeAll()
      #expect(world.channels.isEmpty && world.channels.takeEnded().isEmpty)
    }
  }

  @Test func `the number of channels is limited, and who has opened one keeps it`() async throws {
    try await withWorld { world in
      let page = try world.makePage(port: 1_001)
      world.open(page, world.makeOffer())
      for number in 0..<ChannelWorld.limit + 50 {
        world.send(
          page.makeCheck(world.makeOffer()),
          from: Endpoint(.loopback4, port: UInt16(2_000 + number)))
      }
      #expect(world.channels.withoutTimer.count == ChannelWorld.limit)
      page.send(Self.packet, at: world.now)
      world.run()
      #expect(world.delivered.count == 1)
    }
  }

  @Test func `garbage within a channel delivers nothing, and ends it at most`() async throws {
    try await withWorld { world in
      let page = try world.makePage(port: 1_001)
      world.open(page, world.makeOffer())
      for length in [1, 11, 12, 13, 16, 28, 100, 1_200, 2_048] {
        for byte in [UInt8(0), 0x13, 0xFF] {
          page.sendRecord([UInt8](repeating: byte, count: length))
          world.run()
        }
      }
      #expect(world.delivered.isEmpty && !page.hasEnded)
      // A message of the largest length is still one datagram.
      page.send([UInt8](repeating: 1, count: 1_200), at: world.now)
      world.run()
      #expect(world.delivered.map(\.bytes.count) == [1_200])
    }
  }
}
