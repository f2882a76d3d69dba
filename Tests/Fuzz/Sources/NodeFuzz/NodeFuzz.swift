import CaromCore
import CaromDNS
import FuzzSupport

/// Sends random packets to a node that publishes, browses and resolves, and checks that nothing
/// traps: the decoder, the cache and every state machine. Each packet of the input follows three
/// bytes: its source and destination, the time that passes, and its length. Many packets are ones
/// that the node itself has sent, with a few bytes changed.
@c(LLVMFuzzerTestOneInput)
public func fuzzOneInput(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  var world = World()
  var rest = fuzzInput(data, count)[...]
  while rest.count > 3 {
    let head = Array(rest.prefix(3))
    rest = rest.dropFirst(3)
    let length = min(rest.count, Int(head[2]) * 4)
    world.receive(Array(rest.prefix(length)), how: head[0], after: head[1])
    rest = rest.dropFirst(length)
  }
  return 0
}

private struct World {
  private static let settled = makeNode()
  private var node = World.settled.node
  private var now = Instant.zero + .seconds(6)

  /// Creates a node that has claimed its names, browses and resolves; also returns the packets that
  /// it has sent.
  private static func makeNode() -> (node: MulticastDNS, sent: [[UInt8]]) {
    var node = MulticastDNS(hostLabel: "host", generator: SeededGenerator(seed: 1))
    let addresses = [Link.Address(.v4(0x0A00_0001), prefixLength: 24)]
    node.setLinks([Link(index: 2, addresses: addresses, receivesUnicast: true)], at: .zero)
    _ = try? node.publish(
      Registration(instance: "a", type: "_x._tcp", port: 1, subtypes: ["_s"]), at: .zero)
    while let next = node.nextTimeout, next <= .zero + .seconds(5) { node.handleTimeout(at: next) }
    let type: ServiceType = "_x._tcp"
    _ = node.browse(.services(type), at: .zero + .seconds(5))
    _ = node.resolve("b._x._tcp.local", deadline: .zero + .seconds(60), at: .zero + .seconds(5))
    // A name that the node still probes for.
    _ = try? node.publish(
      Registration(instance: "c", type: "_x._tcp", port: 1), at: .zero + .seconds(5))
    var sent: [[UInt8]] = []
    while let next = node.nextTimeout, next <= .zero + .seconds(6) { node.handleTimeout(at: next) }
    while let outgoing = node.pollTransmit() { sent.append(outgoing.payload) }
    return (node, sent)
  }

  /// Returns one of the packets that the node has sent, with changed bytes. Each change is two
  /// bytes of offset and one byte of value.
  private static func changed(_ number: UInt8, by changes: [UInt8]) -> [UInt8] {
    var payload = settled.sent[Int(number) % settled.sent.count]
    for index in stride(from: 0, to: changes.count - 2, by: 3) {
      let offset = Int(changes[index]) << 8 | Int(changes[index + 1])
      payload[offset % payload.count] = changes[index + 2]
    }
    return payload
  }

  mutating func receive(_ payload: [UInt8], how: UInt8, after: UInt8) {
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
      precondition(steps < 100_000, "a timeout repeats without end")
    }
    now = end
    while node.pollTransmit() != nil {}
    while node.pollEvent() != nil {}
  }
}
