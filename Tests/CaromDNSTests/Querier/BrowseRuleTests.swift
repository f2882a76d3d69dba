import CaromCore
import Testing

@testable import CaromDNS

/// What a browse operation reports, and in which order.
@Suite struct BrowseRuleTests {
  /// Longer than a record remains after its goodbye: one second (RFC 6762 §10.1), and up to 250 ms
  /// more for the question whether its owner still has it.
  private let goodbyeTime = Duration.milliseconds(1300)

  @Test func `a service is reported with its TXT record, instance and interface`() {
    var network = SimulatedNetwork.makeWithOneNode(links: 2)
    let id = network.browse(0)
    let text: TXTRecord = ["seats": "1/2"]
    network.respond([SimulatedNetwork.makeText(text), SimulatedNetwork.makePointer()], on: 1)
    let service = FoundService(
      name: SimulatedNetwork.makeInstance(), text: text, interfaces: [3],
      instance: "Maya's table")
    #expect(network.querierEvents(0) == [.added(id, service)])
    network.respond([SimulatedNetwork.makePointer()], on: 0)
    network.respond([SimulatedNetwork.makePointer(life: 0)], on: 1)
    network.run(for: goodbyeTime)
    #expect(network.querierEvents(0).count == 1)
    network.respond([SimulatedNetwork.makePointer(life: 0)], on: 0)
    network.run(for: goodbyeTime)
    var gone = service
    gone.interfaces = []
    #expect(network.querierEvents(0) == [.added(id, service), .removed(id, gone)])
  }

  @Test func `a TXT record that follows is reported as an update, and its loss is not`() {
    var network = SimulatedNetwork.makeWithOneNode(links: 2)
    let id = network.browse(0)
    network.respond([SimulatedNetwork.makePointer()], on: 0)
    let text: TXTRecord = ["seats": "1/2"]
    var service = FoundService(
      name: SimulatedNetwork.makeInstance(), text: nil, interfaces: [2], instance: "Maya's table")
    #expect(network.querierEvents(0) == [.added(id, service)])
    network.respond([SimulatedNetwork.makeText(text)], on: 0)
    network.respond([SimulatedNetwork.makeText(text)], on: 0)
    service.text = text
    #expect(network.querierEvents(0).dropFirst() == [.updated(id, service)])
    network.respond([SimulatedNetwork.makeText(text, life: 0)], on: 0)
    // A TXT record on a link where the service is not offered does not count.
    network.respond([SimulatedNetwork.makeText(["seats": "2/2"])], on: 1)
    network.run(for: .seconds(2))
    #expect(network.querierEvents(0).count == 2)
  }

  @Test func `each browse has its own events, a later one those of the cache`() {
    var network = SimulatedNetwork.makeWithOneNode(links: 2)
    let first = network.browse(0)
    network.respond([SimulatedNetwork.makePointer()], on: 0)
    network.respond([SimulatedNetwork.makePointer("B")], on: 1)
    network.respond([SimulatedNetwork.makePointer()], on: 1)
    let second = network.browse(0)
    let make = { (label: String, interfaces: [UInt32]) in
      FoundService(
        name: SimulatedNetwork.makeInstance(label), text: nil, interfaces: interfaces,
        instance: label)
    }
    #expect(
      network.querierEvents(0) == [
        .added(first, make("Maya's table", [2])), .added(first, make("B", [3])),
        .added(second, make("Maya's table", [2])), .added(second, make("B", [3])),
      ])
    network.log = []
    network.respond([SimulatedNetwork.makePointer("B", life: 0)], on: 1)
    network.run(for: .milliseconds(1100))
    let gone = make("B", [])
    let events = network.querierEvents(0).dropFirst(4)
    #expect(Set(events) == [.removed(first, gone), .removed(second, gone)])
  }

  @Test func `R79: a type on two links is reported once and removed once`() throws {
    var network = SimulatedNetwork.makeWithOneNode(links: 2)
    let browse = network.browse(0, .types())
    let id = try #require(browse)
    let record = { (life: UInt32) in
      Record("_services._dns-sd._udp.local", .pointer("_x._tcp.local"), timeToLive: life)
    }
    network.respond([record(4500)], on: 1)
    network.respond([record(4500)], on: 0)
    network.respond([record(0)], on: 1)
    network.run(for: goodbyeTime)
    #expect(network.querierEvents(0) == [.nameAdded(id, FoundName("_x._tcp.local", on: [3]))])
    network.respond([record(0)], on: 0)
    network.run(for: goodbyeTime)
    #expect(
      network.querierEvents(0).last == .nameRemoved(id, FoundName("_x._tcp.local", on: [])))
    network.respond([record(4500)], on: 0)
    #expect(network.querierEvents(0).count == 3)
  }

  @Test func `RFC 6763 §4.3: an instance that is split at its dots is reported as one text`() throws
  {
    var network = SimulatedNetwork.makeWithOneNode(links: 2)
    network.browse(0)
    let split = try Name(
      labels: [Array("Dr".utf8), Array("X".utf8)] + SimulatedNetwork.type.name().labels)
    let outside: Name = "Lab.Q.elsewhere"
    for name in [split, outside] {
      network.respond(
        [Record(SimulatedNetwork.type.name(), .pointer(name), timeToLive: 120)], on: 0)
    }
    #expect(network.changes(0) == ["+Dr.X", "+Lab"])
  }

  @Test func `a TXT record of several links is that of the first one that has it`() throws {
    var network = SimulatedNetwork.makeWithOneNode(links: 2)
    let monitor = network.with(0) { $0.monitorText(of: SimulatedNetwork.makeInstance(), at: $1) }
    let id = try #require(monitor)
    network.respond([SimulatedNetwork.makeText(["a": "1"])], on: 1)
    network.respond([SimulatedNetwork.makeText(["a": "2"])], on: 0)
    network.respond([SimulatedNetwork.makeText(["a": "3"])], on: 1)
    network.respond([SimulatedNetwork.makeText(["a": "2"], life: 0)], on: 0)
    network.run(for: .milliseconds(1100))
    #expect(
      network.querierEvents(0) == [
        .text(id, ["a": "1"]), .text(id, ["a": "2"]), .text(id, ["a": "3"]),
      ])
  }

  @Test func `a query reports each link's records, and their loss with the link`() throws {
    var network = SimulatedNetwork.makeWithOneNode(links: 2)
    let address = SimulatedNetwork.makeAddress()
    network.respond([address], on: 1)
    let query = network.with(0) { $0.query("host9.local", .a, at: $1) }
    let id = try #require(query)
    network.respond([address], on: 0)
    network.setLinks(0, [network.nodes[0].attachments[0]])
    #expect(
      network.querierEvents(0) == [
        .recordAdded(id, address, interface: 3), .recordAdded(id, address, interface: 2),
        .recordRemoved(id, address, interface: 3),
      ])
  }

  @Test func `R21: a denial is reported once, to later queries at once`() throws {
    var network = SimulatedNetwork.makeWithOneNode(links: 2)
    let first = try #require(network.with(0) { $0.query("host9.local", .aaaa, at: $1) })
    for _ in 0..<2 {
      network.respond([SimulatedNetwork.makeDenial("host9.local", has: [.a])], on: 0)
    }
    let second = try #require(network.with(0) { $0.query("host9.local", .aaaa, at: $1) })
    _ = network.with(0) { $0.query("host9.local", .a, at: $1) }
    #expect(
      network.querierEvents(0) == [
        .recordDenied(first, interface: 2), .recordDenied(second, interface: 2),
      ])
  }
}
