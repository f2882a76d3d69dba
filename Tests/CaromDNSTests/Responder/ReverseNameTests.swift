import CaromCore
import CaromDNS
import Testing

/// PTR records that name this host by its addresses.
@Suite struct ReverseNameTests {
  private static let v4: Name = "1.0.0.10.in-addr.arpa"
  private static let v6: Name =
    "1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.e.f.ip6.arpa"

  private static func makeAttachment(isAlone: Bool = true) -> SimulatedNetwork.Attachment {
    var attachment = SimulatedNetwork.makeAttachment(0, 2, 1, dualStack: true)
    attachment.link.receivesUnicast = isAlone
    return attachment
  }

  /// A network with a host that has published a service, and a second host.
  private func makeNetwork(isAlone: Bool = true) -> (network: SimulatedNetwork, id: PublicationID) {
    var network = SimulatedNetwork()
    network.addNode("host1", [Self.makeAttachment(isAlone: isAlone)])
    network.addNode(2, dualStack: true)
    let id = network.publish(0)
    network.run(for: .seconds(5))
    return (network, id)
  }

  /// The reverse PTR records that the first host sent, as "name life".
  private func pointers(_ network: SimulatedNetwork) -> Set<String> {
    Set(
      network.sentRecords(0).filter { $0.data == .pointer("host1.local") }.map { record in
        "\(record.name) \(record.timeToLive)" + (record.flushesCache ? "" : " shared")
      })
  }

  @Test func `reverse names follow RFC 1035 and RFC 3596`() {
    #expect(IPAddress.v4(0x0A00_0001).reverseName == Self.v4)
    #expect(IPAddress.v6(high: 0xFE80 << 48, low: 1, scope: 7).reverseName == Self.v6)
    let privates: [IPAddress] = [
      .v4(0x0A01_0203), .v4(0xC0A8_0001), .v4(0xAC10_0001), .v4(0xAC1F_FFFF),
      .v6(high: 0xFD77 << 48, low: 1, scope: 0),
    ]
    let others: [IPAddress] = [
      .v4(0x0B00_0001), .v4(0xAC0F_0001), .v4(0xAC20_0001), .v4(0xA9FE_0001),
      .v6(high: 0x2001 << 48, low: 1, scope: 0),
    ]
    #expect(privates.allSatisfy { $0.reverseName.isPrivateReverse })
    #expect(!others.contains { $0.reverseName.isPrivateReverse })
    #expect(IPAddress.v4(0xA9FE_0001).reverseName.isLinkLocal)
  }

  @Test func `R42: the names of this host's addresses are announced without probes`() {
    let (network, _) = makeNetwork()
    #expect(pointers(network) == ["\(Self.v4) 120", "\(Self.v6) 120"])
    let probed = network.probes(0).flatMap { packet in
      packet.message.questions.map(\.key.name) + packet.message.authorities.map(\.name)
    }
    #expect(!probed.isEmpty && !probed.contains { $0 == Self.v4 || $0 == Self.v6 })
  }

  @Test func `a host is found by its address`() throws {
    var (network, _) = makeNetwork()
    network.log = []
    _ = network.with(1) { $0.query(Self.v4, .ptr, at: $1) }
    _ = network.with(1) { $0.query(Self.v6, .a, at: $1) }
    network.run(for: .milliseconds(300))
    let events = network.querierEvents(1)
    #expect(events.contains { if case .recordDenied = $0 { true } else { false } })
    #expect(
      events.contains { event in
        guard case .recordAdded(_, let record, _) = event else { return false }
        return record.name == Self.v4 && record.data == .pointer("host1.local")
      })
  }

  @Test func `beside another responder of the host no reverse names are published`() {
    var (network, _) = makeNetwork(isAlone: false)
    #expect(pointers(network) == [])
    network.log = []
    network.setLinks(0, [Self.makeAttachment()])
    _ = network.with(1) { $0.query(Self.v4, .ptr, at: $1) }
    network.run(for: .milliseconds(300))
    #expect(network.querierEvents(1).count == 1)
    network.run(for: .seconds(2))
    #expect(pointers(network) == ["\(Self.v4) 120", "\(Self.v6) 120"])
    #expect(network.probes(0).isEmpty)
    network.log = []
    network.setLinks(0, [Self.makeAttachment(isAlone: false)])
    network.run(for: .seconds(3))
    #expect(pointers(network) == ["\(Self.v4) 0", "\(Self.v6) 0"])
    // One message of two records for each address family.
    #expect(network.sentRecords(0).count == 4 && network.probes(0).isEmpty)
  }

  @Test func `R45 R51: a removed address and a withdrawn host get a goodbye for their names`() {
    var (network, id) = makeNetwork()
    network.log = []
    var attachment = Self.makeAttachment()
    attachment.link.addresses.removeAll { $0.address.isV6 }
    attachment.link.usesV6 = false
    network.setLinks(0, [attachment])
    #expect(pointers(network) == ["\(Self.v6) 0"])
    network.run(for: .seconds(5))
    network.log = []
    network.with(0) { $0.withdraw(id, at: $1) }
    network.run(for: .seconds(1))
    #expect(pointers(network) == ["\(Self.v4) 0"])
  }
}
