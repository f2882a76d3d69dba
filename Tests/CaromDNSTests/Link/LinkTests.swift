import CaromCore
import Testing

@testable import CaromDNS

/// What a link's properties mean for the messages on it.
@Suite struct LinkTests {
  private static let v4 = Link.Address(.v4(0x0A00_0001), prefixLength: 24)
  private static let v6 = Link.Address(
    .v6(high: 0xFE80 << 48, low: 1, scope: 0), prefixLength: 64)

  @Test func `RFC 6762 §3: messages go to the group of each family in use`() {
    let group = Endpoint(.v6(high: 0xFF02 << 48, low: 0xFB, scope: 7), port: 5353)
    for (addresses, usesV4, usesV6, groups) in [
      ([Self.v4], nil, nil, [MulticastGroup.v4]), ([Self.v6], nil, nil, [group]),
      ([Self.v6, Self.v4], nil, nil, [MulticastGroup.v4, group]), ([], nil, nil, []),
      ([], true, false, [MulticastGroup.v4]), ([Self.v4], false, true, [group]),
    ] as [([Link.Address], Bool?, Bool?, [Endpoint])] {
      let link = Link(index: 7, addresses: addresses, usesV4: usesV4, usesV6: usesV6)
      #expect(link.groups == groups)
    }
    #expect(MulticastGroup.v4.address.description == "224.0.0.251")
  }

  @Test(
    arguments: [
      (nil, true, 1452), (1500, true, 1452), (1501, true, 1452), (65_536, true, 1452),
      (1499, true, 1451), (1500, false, 1472), (9000, false, 1472), (577, true, 529),
      (576, true, 528), (575, true, 528), (576, false, 548), (555, false, 528), (0, true, 528),
    ] as [(Int?, Bool, Int)])
  func `R65: a message fits the MTU, but every host accepts 528 bytes`(
    mtu: Int?, usesV6: Bool, limit: Int
  ) {
    let link = Link(index: 2, addresses: usesV6 ? [Self.v4, Self.v6] : [Self.v4], mtu: mtu)
    #expect(link.payloadLimit == limit)
  }

  @Test func `names stay claimed unless the interface, its addresses or its carrier change`() {
    let link = Link(index: 2, addresses: [Self.v4, Self.v6], epoch: 3)
    let changes: [(inout Link) -> Void] = [
      { $0.index = 3 }, { $0.addresses.removeLast() }, { $0.addresses[0].prefixLength = 23 },
      { $0.usesV4 = false }, { $0.usesV6 = false }, { $0.epoch = 4 },
      { $0.receivesUnicast = true }, { $0.mtu = 1280 }, { _ in },
    ]
    let same = changes.map { change in
      var other = link
      change(&other)
      return link.isSame(as: other) && other.isSame(as: link)
    }
    #expect(same == [false, false, false, false, false, false, true, true, true])
  }

  @Test func `a link lists each address once, in order, without a scope`() {
    let scoped = Link.Address(.v6(high: 0xFE80 << 48, low: 1, scope: 9), prefixLength: 64)
    let link = Link(index: 2, addresses: [Self.v6, Self.v4, scoped, Self.v4])
    #expect(link.addresses == [Self.v4, Self.v6])
    #expect(link.hasAddress(.v6(high: 0xFE80 << 48, low: 1, scope: 5)))
    #expect(link.hasAddress(.v4(0x0A00_0001)) && !link.hasAddress(.v4(0x0A00_0002)))
  }

  @Test func `RFC 6762 §11: link-local sources are on every link, others on that of their subnet`()
  {
    let link = Link(index: 2, addresses: [Self.v4])
    for (source, isOnLink) in [
      (.v4(0xA9FE_0102), true), (.v6(high: 0xFE80 << 48, low: 7, scope: 2), true),
      (.v4(0x0A00_00FF), true), (.v4(0x0A00_0100), false),
      (.v6(high: 0x2001 << 48, low: 1, scope: 0), false),
    ] as [(IPAddress, Bool)] {
      #expect(link.isOnLink(source) == isOnLink)
    }
    #expect(!Link(index: 2, addresses: []).isOnLink(.v4(0x0A00_0001)))
    let whole = Link(
      index: 2, addresses: [Link.Address(.v4(0x0A00_0001), prefixLength: 0)])
    #expect(whole.isOnLink(.v4(0xC000_0201)) && !whole.isOnLink(.v6(high: 1, low: 1, scope: 0)))
    let single = Link(
      index: 2, addresses: [Link.Address(.v4(0x0A00_0001), prefixLength: 32)])
    #expect(single.isOnLink(.v4(0x0A00_0001)) && !single.isOnLink(.v4(0x0A00_0000)))
  }
}
