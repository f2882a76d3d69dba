import CaromCore
import CaromDNS
import Testing

/// Resolving names that are not in Unicode normalization form C.
@Suite struct ResolveNameTests {
  private static let decomposed = makeName("Cafe\u{301}")
  private static let composed = makeName("Caf\u{E9}")

  private static func makeName(_ label: String) -> Name {
    guard let name = try? SimulatedNetwork.type.name().prefixed(byUncomposed: label) else {
      preconditionFailure("'\(label)' is not a valid label")
    }
    return name
  }

  /// The records of a service of 10.0.0.9 at a port.
  private func records(of name: Name, port: UInt16) -> [Record] {
    [
      Record(
        name, .service(priority: 0, weight: 0, port: port, target: "host9.local"),
        timeToLive: 120, flushesCache: true),
      Record(name, .text(TXTRecord().encoded), timeToLive: 4500, flushesCache: true),
      SimulatedNetwork.makeAddress(),
    ]
  }

  private func makeNetwork(resolving name: Name = decomposed) -> SimulatedNetwork {
    var network = SimulatedNetwork()
    network.addNode(1)
    _ = network.with(0) {
      $0.resolve(name, deadline: $1.advanced(by: .seconds(2)), at: $1)
    }
    return network
  }

  private func ports(_ network: SimulatedNetwork) -> [UInt16?] {
    network.resolutions(0).map { $0?.endpoints.first?.port }
  }

  @Test func `R64: composing a name changes neither other names nor invalid text`() throws {
    #expect(Self.decomposed.composed.wire == Self.composed.wire)
    #expect(Self.composed.composed.wire == Self.composed.wire)
    let invalid = try Name(labels: [Array("e\u{301}".utf8) + [0xFF]])
    #expect(invalid.composed.wire == invalid.wire)
  }

  @Test(arguments: [decomposed, composed])
  func `R64: a service is resolved under the name as given or the composed name`(
    published: Name
  ) {
    var network = makeNetwork()
    network.run(for: .milliseconds(200))
    let asked = Set(network.questions(0, .srv).map(\.question.key.name))
    #expect(asked == [Self.decomposed, Self.composed])
    network.respond(records(of: published, port: 1))
    network.run(for: .seconds(3))
    #expect(ports(network) == [1])
  }

  @Test func `R64: of two services, the one with the name as given is resolved`() {
    var network = makeNetwork()
    network.respond(records(of: Self.composed, port: 1))
    network.run(for: .milliseconds(50))
    #expect(ports(network) == [])
    network.respond(records(of: Self.decomposed, port: 2))
    #expect(ports(network) == [2])
    network.run(for: .seconds(3))
    #expect(ports(network) == [2])
  }

  @Test func `a denial under one form of the name leaves the other`() {
    var network = makeNetwork()
    network.respond([SimulatedNetwork.makeDenial(Self.decomposed, has: [.txt])])
    #expect(ports(network) == [])
    network.respond(records(of: Self.composed, port: 1))
    #expect(ports(network) == [1])
  }

  @Test func `if neither name exists, one failure is reported at the deadline`() {
    var network = makeNetwork()
    network.run(for: .milliseconds(1990))
    #expect(ports(network) == [])
    network.run(for: .seconds(20))
    #expect(ports(network) == [nil])
  }

  @Test(arguments: [false, true])
  func `a cancelled resolve asks for neither name`(hasDenial: Bool) {
    var network = SimulatedNetwork()
    network.addNode(1)
    let id = network.with(0) {
      $0.resolve(Self.decomposed, deadline: $1.advanced(by: .seconds(9)), at: $1)
    }
    if hasDenial {
      network.respond([SimulatedNetwork.makeDenial(Self.decomposed, has: [.txt])])
    }
    network.with(0) { machine, _ in machine.cancelResolve(id) }
    network.run(for: .seconds(20))
    #expect(network.log.isEmpty && ports(network) == [])
  }

  @Test func `a composed name is asked for alone`() {
    var network = makeNetwork(resolving: Self.composed)
    network.run(for: .milliseconds(200))
    #expect(network.questions(0, .srv).map(\.question.key.name) == [Self.composed])
  }
}
