import CaromCore
import CaromDNS
import Testing

/// Rules for changes of a published service's TXT record.
@Suite struct ChangeTests {
  /// A published service, and another node that monitors its TXT record.
  private func makeMonitored() -> (network: SimulatedNetwork, id: PublicationID) {
    var network = SimulatedNetwork()
    network.addNode(1)
    network.addNode(2)
    let id = network.publish(0)
    _ = network.with(1) { $0.monitorText(of: SimulatedNetwork.makeInstance(), at: $1) }
    network.run(for: .seconds(5))
    network.log = []
    return (network, id)
  }

  /// The values of "round" that the monitor has reported, with their times.
  private func reported(_ network: SimulatedNetwork) -> [(at: Instant, round: String?)] {
    network.nodes[1].events.compactMap { entry in
      guard case .querier(.text(_, let text)) = entry.event else { return nil }
      return (entry.at, text?["round"])
    }
  }

  /// The records that node 0 multicast, with their times.
  private func multicasts(_ network: SimulatedNetwork) -> [(at: Instant, record: Record)] {
    network.packets(0, responses: true).filter { $0.transmit.destination == MulticastGroup.v4 }
      .flatMap { packet in
        (packet.message.answers + packet.message.additionals).map { (packet.at, $0) }
      }
  }

  /// The value of "round" in each announced TXT record.
  private func announced(_ network: SimulatedNetwork) -> [String] {
    multicasts(network).compactMap { entry in
      guard case .text(let bytes) = entry.record.data else { return nil }
      return TXTRecord(decoding: bytes)["round"]
    }
  }

  @Test func `R45: after twenty changes in two seconds the last one is seen within two more`()
    throws
  {
    var (network, id) = makeMonitored()
    for round in 1...20 {
      network.run(for: .milliseconds(100))
      network.update(0, id, text: ["round": "\(round)"])
    }
    let last = network.now
    network.run(for: .seconds(30))
    let seen = try #require(reported(network).last)
    #expect(seen.round == "20")
    #expect(seen.at - last <= .seconds(2))
  }

  @Test func `R45: every question is answered with the newest TXT record`() {
    var (network, id) = makeMonitored()
    let question = Question(SimulatedNetwork.makeInstance(), .txt)
    for round in 1...30 {
      network.update(0, id, text: ["round": "\(round)"])
      network.log = []
      network.inject(SimulatedNetwork.makeQuery([question]), from: 9, port: 40_000)
      network.run(for: .milliseconds(1))
      let answer = network.log.first { $0.transmit.destination.port == 40_000 }
      let text = TXTRecord(dictionaryLiteral: ("round", "\(round)"))
      #expect(answer?.message.answers.map(\.data) == [.text(text.encoded)])
    }
  }

  @Test func `R45: an answer that waits when the TXT record changes has the new record`() {
    var (network, id) = makeMonitored()
    let instance = SimulatedNetwork.makeInstance()
    for round in 1...11 {
      network.update(0, id, text: ["round": "\(round)"])
      network.run(for: .milliseconds(1100))
    }
    network.log = []
    network.inject(
      SimulatedNetwork.makeQuery([Question(instance, .txt), Question(instance, .srv)]), from: 9)
    network.run(for: .milliseconds(15))
    #expect(network.log.isEmpty)
    network.update(0, id, text: ["round": "12"])
    network.run(for: .milliseconds(130))
    #expect(announced(network) == ["12"])
  }

  @Test func `R15 R45: a changed TXT record is announced alone, at most once a second`() {
    var (network, id) = makeMonitored()
    for round in 1...20 {
      network.run(for: .milliseconds(100))
      network.update(0, id, text: ["round": "\(round)"])
    }
    network.run(for: .seconds(5))
    let sent = multicasts(network)
    #expect(sent.allSatisfy { $0.record.type == .txt && $0.record.flushesCache })
    let gaps = zip(sent, sent.dropFirst()).map { $1.at - $0.at }
    #expect(gaps.allSatisfy { $0 >= .seconds(1) })
    #expect(sent.count == 4)
  }

  @Test func `R45: beyond ten changes a minute only the last one of a burst is announced`() throws {
    var (network, id) = makeMonitored()
    for round in 1...400 {
      network.run(for: .milliseconds(100))
      network.update(0, id, text: ["round": "\(round)"])
    }
    let rounds = [1, 10, 20, 30, 40, 50, 60, 70, 80, 90]
    #expect(Set(announced(network)) == Set(rounds.map { "\($0)" }))
    let end = network.now + .seconds(2)
    #expect(network.run(until: end) { announced($0).last == "400" })
    network.run(for: .seconds(60))
    #expect(announced(network).suffix(2) == ["400", "400"])
    #expect(Set(announced(network)).count == 11)
    #expect(reported(network).last?.round == "400")
  }

  @Test func `R45: the rate limit allows ten changes again after a minute`() {
    var (network, id) = makeMonitored()
    for minute in 0..<2 {
      network.log = []
      for round in 1...10 {
        let start = network.now
        network.update(0, id, text: ["round": "\(minute) \(round)"])
        #expect(network.log.last?.at == start)
        network.run(for: .seconds(1))
      }
      network.run(for: .seconds(60))
    }
  }

  @Test func `R43: a change before the second announcement does not keep records from it`() {
    var network = SimulatedNetwork()
    network.addNode(1)
    let id = network.publish(0)
    _ = network.run(until: .zero + .seconds(3)) { !$0.names(0).isEmpty }
    network.run(for: .milliseconds(400))
    network.update(0, id, text: ["round": "1"])
    network.run(for: .seconds(5))
    let sent = multicasts(network)
    for type in [RecordType.ptr, .srv, .a] {
      let moments = sent.filter { $0.record.type == type }.map(\.at)
      #expect(moments.count == (type == .ptr ? 4 : 2))
    }
    #expect(announced(network) == ["1", "1"])
  }
}
