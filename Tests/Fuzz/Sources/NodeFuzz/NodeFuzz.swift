import CaromCore
import CaromDNS
import FuzzSupport

/// A node that publishes, browses and resolves hears anything from anybody at any time, and does
/// not trap: the decoder, the cache and every machine behind them. Of an input, each packet has
/// three bytes before it: how it comes, how much time passes, and how long it is. Many packets
/// are ones that the node itself has sent, changed in a few places.
@c(LLVMFuzzerTestOneInput)
public func fuzzOneInput(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  var world = World()
  var rest = fuzzInput(data, count)[...]
  while rest.count > 3 {
    let head = Array(rest.prefix(3))
    rest = rest.dropFirst(3)
    let length = min(rest.count, Int(head[2]) * 4)
    world.hear(Array(rest.prefix(length)), how: head[0], after: head[1])
    rest = rest.dropFirst(length)
  }
  return 0
}

private struct World {
  private static let settled = makeNode()
  private var node = World.settled.node
  private var now = Instant.zero + .seconds(6)

  /// A node that has its names, and asks for more.
  private static func makeNode() -> (node: MulticastDNS, sent: [[UInt8]]) {
    var node = MulticastDNS(hostLabel: "host", generator: SeededGenerator(seed: 1))
    let addresses = [Link.Address(.v4(0x0A00_0001), prefixLength: 24)]
    node.setLinks([Link(index: 2, addresses: addresses, receivesUnicast: true)], at: .zero)
    _ = try? node.publish(
      Registration(instance: "a", type: "_x._tcp", port: 1, subtypes: ["_s"]), at: .zero)
    while let next = node.nextTimeout, next <= .zero + .seconds(5) { node.handleTimeout(at: next) }
    let type: ServiceType = "_x._tcp"
    _ = node.browse(type, at: .zero + .seconds(5))
    _ = node.resolve("b._x._tcp.local", deadline: .zero + .seconds(60), at: .zero + .seconds(5))
    // A name that is still probed for.
    _ = try? node.publish(
      Registration(instance: "c", type: "_x._tcp", port: 1), at: .zero + .seconds(5))
    var sent: [[UInt8]] = []
    while let next = node.nextTimeout, next <= .zero + .seconds(6) { node.handleTimeout(at: next) }
    while let outgoing = node.pollTransmit() { sent.append(outgoing.payload) }
    return (node, sent)
  }

  /// A packet of the node's own, with the bytes changed that `changes` says: each by two bytes of
  /// place and one of value.
  private static func changed(_ place: UInt8, by changes: [UInt8]) -> [UInt8] {
    var payload = settled.sent[Int(place) % settled.sent.count]
    for index in stride(from: 0, to: changes.count - 2, by: 3) {
      let offset = Int(changes[index]) << 8 | Int(changes[index + 1])
      payload[offset % payload.count] = changes[index + 2]
    }
    return payload
  }

  mutating func hear(_ payload: [UInt8], how: UInt8, after: UInt8) {
    let payload = how & 32 == 0 ? payload : Self.changed(after, by: payload)
    let source = Endpoint(.v4(0x0A00_0000 | UInt32(how & 7)), port: how & 8 == 0 ? 5353 : 4000)
    let own = Endpoint(.v4(0x0A00_0001), port: 5353)
    let datagram = Datagram(
      payload, from: source, to: how & 16 == 0 ? MulticastGroup.v4 : own, interface: 2)
    node.handle(datagram, at: now)
    let end = now + .milliseconds(Int64(after) * Int64(after))
    var steps = 0
    while let next = node.nextTimeout, next <= end {
      now = max(now, next)
      node.handleTimeout(at: now)
      steps += 1
      precondition(steps < 100_000, "a machine asks for ever the same timeout")
    }
    now = end
    while node.pollTransmit() != nil {}
    while node.pollEvent() != nil {}
  }
}
