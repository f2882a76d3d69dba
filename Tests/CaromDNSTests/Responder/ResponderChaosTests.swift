import CaromCore
import Testing

@testable import CaromDNS

/// Random operations keep the responder's tables consistent at every moment.
@Suite struct ResponderChaosTests {
  private struct World {
    var responder = Responder(hostLabel: "host", generator: SeededGenerator(seed: 7))
    var generator: SeededGenerator
    var ids: [PublicationID] = []
    var sent: [[UInt8]] = []
    var now = Instant.zero

    mutating func pick(_ count: Int) -> Int { Int.random(in: 0..<count, using: &generator) }

    mutating func makeLink(_ index: UInt32) -> Link {
      let addresses = (0...pick(2)).map { _ in
        Link.Address(.v4(0x0A00_0000 | UInt32(1 + pick(5))), prefixLength: 24)
      }
      return Link(index: index, addresses: addresses, receivesUnicast: pick(2) == 0)
    }

    mutating func perform() throws {
      switch pick(12) {
      case 0:
        var service = Registration(
          instance: "\(pick(6))", type: "_x._tcp", port: 1, subtypes: ["_a", "_b", "_b"])
        service.renames = pick(4) > 0
        service.isUnique = pick(4) == 0
        if pick(4) == 0 { service.links = [UInt32(1 + pick(3))] }
        if ids.count < 8, let id = try? responder.publish(service, at: now) { ids.append(id) }
      case 1: if !ids.isEmpty { responder.withdraw(ids.remove(at: pick(ids.count)), at: now) }
      case 2:
        guard let id = ids.randomElement(using: &generator) else { return }
        try responder.update(id, text: ["n": "\(pick(9))"], at: now)
      case 3:
        guard let id = ids.randomElement(using: &generator) else { return }
        try responder.update(id, subtypes: ["_a", "_\(pick(3))"], at: now)
      case 4:
        guard let id = ids.randomElement(using: &generator) else { return }
        try? responder.rename(id, to: "\(pick(6))", at: now)
      case 5: responder.setLink(makeLink(UInt32(1 + pick(3))), at: now)
      case 6: if pick(3) == 0 { responder.removeLink(UInt32(1 + pick(3)), at: now) }
      case 7: if pick(5) == 0 { responder.reclaimNames(at: now) }
      default: receive()
      }
    }

    /// Receives an earlier packet again, possibly altered.
    mutating func receive() {
      guard !sent.isEmpty, var message = try? Message(decoding: sent[pick(sent.count)]) else {
        return
      }
      for index in message.answers.indices where pick(3) == 0 {
        message.answers[index].data = .text([1, UInt8(pick(3))])
        message.answers[index].timeToLive = [0, 1, 120, 4500][pick(4)]
      }
      for index in message.authorities.indices where pick(3) == 0 {
        message.authorities[index].data = .raw(RecordType(rawValue: 99), [1])
      }
      message.isTruncated = pick(4) == 0
      let isMulticast = pick(3) > 0
      let datagram = Datagram(
        [], from: Endpoint(.v4(0x0A00_0000 | UInt32(pick(40))), port: pick(5) > 0 ? 5353 : 99),
        to: isMulticast ? MulticastGroup.v4 : Endpoint(.v4(0x0A00_0001), port: 5353),
        interface: UInt32(1 + pick(3)))
      if message.isResponse {
        responder.handleResponse(message, from: datagram, at: now)
      } else {
        responder.handleQuery(message, from: datagram, at: now)
      }
    }

    mutating func advance() {
      let end = now + .milliseconds(pick(200))
      while let next = responder.nextTimeout, next <= end {
        now = max(now, next)
        responder.handleTimeout(at: now)
      }
      now = end
      while let transmit = responder.pollTransmit() {
        sent.append(transmit.payload)
        if sent.count > 64 { sent.removeFirst() }
      }
      while let event = responder.pollEvent() {
        if case .failed(let id, _) = event { ids.removeAll { $0 == id } }
      }
    }
  }

  /// Checks that the published records are those of the claims, that each name leads to its claim,
  /// and that each host claim counts its services.
  private func check(_ responder: Responder) throws {
    let claims = responder.claims.values
    try #require(responder.names.count == claims.count)
    try #require(claims.allSatisfy { responder.names[$0.name] == $0.id })
    for state in responder.links {
      let link = state.link
      let owners = claims.filter { $0.isOwned(on: link.index) }
      let expected = Set(owners.flatMap { $0.records(on: link) }.map(\.record.identity))
      try #require(state.owned.count == expected.count)
      try #require(expected.allSatisfy { state.owned.slot(of: $0) != nil })
      for host in [PublicationID.host, .uniqueHost] {
        let users = claims.count { $0.host == host && $0.state(on: link.index) != nil }
        let claim = responder.claims[host]
        try #require(claim?.dependents[link.index] ?? 0 == users)
        try #require((claim?.state(on: link.index) != nil) == (users > 0))
      }
    }
    let indices = Set(responder.links.map(\.link.index))
    try #require(claims.allSatisfy { $0.progress.allSatisfy { indices.contains($0.link) } })
  }

  @Test(arguments: 1...6 as ClosedRange<UInt64>)
  func `the tables stay consistent under random operations and are empty at the end`(seed: UInt64)
    throws
  {
    #if DEBUG
      let rounds = 250
    #else
      let rounds = 3000
    #endif
    var world = World(generator: SeededGenerator(seed: seed))
    for _ in 0..<rounds {
      try world.perform()
      world.advance()
      try check(world.responder)
    }
    try #require(world.responder.serviceCount == world.ids.count)
    world.responder.withdrawAll(at: world.now)
    try check(world.responder)
    let left = world.responder.links.map(\.owned.count)
    #expect(left.allSatisfy { $0 == 0 })
    world.now = world.now + .seconds(100)
    world.advance()
    #expect(world.responder.nextTimeout == nil)
  }
}
