import CaromCore
import CaromTesting
import Testing

@testable import CaromProtocol

/// Connect tokens at a group of hosts that share a port: a token counts once over all of them.
@Suite struct ConnectTokenGroupTests {
  private static let load = Load(hertz: 30, ticks: 30)

  @Test(arguments: ConnectTokenTests.links, [1, 2, 3] as [UInt64])
  func `each token is accepted once over all hosts of a group`(
    links: VirtualPeer.Links, seed: UInt64
  ) throws {
    var world = VirtualWorld<GroupNode>(seed: seed)
    let machine = world.network.addHost(on: [0])
    let group = VirtualHostGroup(
      on: machine, members: 4, seats: 16, load: Self.load,
      access: .tickets(ConnectTokenTests.makeReader()), seed: seed)
    world.start(GroupNode(group: group), on: machine)
    // Two clients with each token.
    var clients: [VirtualHost] = []
    for index in 0..<8 {
      let host = world.network.addHost(on: [0])
      let player = PeerID(high: 5, low: UInt64(index / 2))
      let token = try ConnectTokenTests.makeToken(UInt64(index / 2), player: player)
      var client = VirtualPeer(
        on: host, connectingTo: machine, links: links, load: Self.load, access: .token(token),
        seed: seed)
      client.setPlayer(player)
      world.start(GroupNode(client: client), on: host)
      clients.append(host)
    }
    try world.run(for: .seconds(5), stepLimit: 5_000_000)
    let peers = clients.map { world[$0]!.client! }
    for pair in 0..<4 {
      let two = peers[2 * pair...2 * pair + 1]
      #expect(two.count { $0.openedAt != nil } == 1)
      #expect(two.flatMap(\.endings) == [.tokenRefused(.used)])
    }
    let host = world[machine]!.group!
    #expect(host.opened == 4 && host.directory.tickets?.count == 4)
    #expect(host.hosts.allSatisfy { $0.tickets == nil })
    for peer in peers where peer.openedAt != nil {
      #expect((peer.connection?.datagram != nil) == links.contains(.datagram))
      #expect((peer.connection?.stream?.isJoined == true) == links.contains(.stream))
    }
  }
}
