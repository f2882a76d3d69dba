import CaromCore
import CaromDNS

/// Nodes on simulated links in virtual time. As on a real interface, every multicast reaches all
/// nodes on its segment, including the sender.
struct SimulatedNetwork {
  struct Node {
    var machine: MulticastDNS
    var attachments: [Attachment]
    var events: [(at: Instant, event: MulticastDNS.Event)] = []
  }

  struct Attachment {
    var segment: Int
    var link: Link
  }

  struct Packet {
    var at: Instant
    var sender: Int
    var segment: Int
    var transmit: Transmit
    var message: Message
  }

  private struct Flight {
    var at: Instant
    var receiver: Int
    var datagram: Datagram
  }

  var nodes: [Node] = []
  var now = Instant.zero
  var log: [Packet] = []
  /// The probability that a receiver loses a packet.
  var loss = 0.0
  /// The nodes whose packets are lost in both directions.
  var disconnected: Set<Int> = []
  var delay = Duration.microseconds(50)
  private var flights: [Flight] = []
  /// The next timeout of each node, since reading it from a node in an array copies the node.
  private var timeouts: [Instant?] = []
  private var generator: SeededGenerator

  init(seed: UInt64 = 1) { generator = SeededGenerator(seed: seed) }

  /// A network with one node, which has an interface on each of `links` segments: 10.0.0.1 on the
  /// interface with index 2, 10.0.1.1 on that with index 3, and so on.
  static func makeWithOneNode(seed: UInt64 = 1, links: Int = 1) -> SimulatedNetwork {
    var network = SimulatedNetwork(seed: seed)
    network.addNode("a", (0..<links).map { makeAttachment($0, UInt32(2 + $0), 1) })
    return network
  }

  /// Adds a node with one interface, which has index 2 and the address 10.0.0.`host`.
  @discardableResult
  mutating func addNode(_ host: UInt8, name: String? = nil, dualStack: Bool = false) -> Int {
    addNode(name ?? "host\(host)", [Self.makeAttachment(0, 2, host, dualStack: dualStack)])
  }

  @discardableResult
  mutating func addNode(
    _ name: String, _ attachments: [Attachment], isHostUnique: Bool = false
  ) -> Int {
    let machine = MulticastDNS(
      hostLabel: name, isHostUnique: isHostUnique, generator: generator.split())
    nodes.append(Node(machine: machine, attachments: attachments))
    timeouts.append(nil)
    let index = nodes.count - 1
    nodes[index].machine.setLinks(attachments.map(\.link), at: now)
    drain(index)
    return index
  }

  static func makeAttachment(
    _ segment: Int, _ interface: UInt32, _ host: UInt8, dualStack: Bool = false
  ) -> Attachment {
    let v4 = IPAddress.v4(0x0A00_0000 | UInt32(segment) << 8 | UInt32(host))
    let v6 = IPAddress.v6(high: 0xFE80 << 48, low: UInt64(host), scope: 0)
    var addresses = [Link.Address(v4, prefixLength: 24)]
    if dualStack { addresses.append(Link.Address(v6, prefixLength: 64)) }
    return Attachment(segment: segment, link: Link(index: interface, addresses: addresses))
  }

  /// Calls a node and carries out the resulting transmits and events.
  mutating func with<Result>(
    _ node: Int, _ body: (inout MulticastDNS, Instant) throws -> Result
  ) rethrows -> Result {
    defer { drain(node) }
    return try body(&nodes[node].machine, now)
  }

  mutating func setLinks(_ node: Int, _ attachments: [Attachment]) {
    nodes[node].attachments = attachments
    with(node) { $0.setLinks(attachments.map(\.link), at: $1) }
  }

  private mutating func drain(_ node: Int) {
    while let transmit = nodes[node].machine.pollTransmit() { send(transmit, from: node) }
    while let event = nodes[node].machine.pollEvent() { nodes[node].events.append((now, event)) }
    timeouts[node] = nodes[node].machine.nextTimeout
  }

  private mutating func send(_ transmit: Transmit, from sender: Int) {
    guard
      let origin = nodes[sender].attachments.first(where: {
        $0.link.index == transmit.interface
      }), let message = try? Message(decoding: transmit.payload)
    else { return }
    log.append(
      Packet(
        at: now, sender: sender, segment: origin.segment, transmit: transmit, message: message))
    let address = transmit.destination.address
    guard !disconnected.contains(sender),
      let source = origin.link.addresses.first(where: { $0.address.isV6 == address.isV6 })
    else { return }
    inject(
      transmit.payload, from: Endpoint(source.address, port: 5353), to: transmit.destination,
      on: origin.segment)
  }

  /// Delivers a packet to the nodes on a segment.
  mutating func inject(
    _ payload: [UInt8], from source: Endpoint, to destination: Endpoint = MulticastGroup.v4,
    on segment: Int = 0
  ) {
    for receiver in nodes.indices where !disconnected.contains(receiver) {
      for attachment in nodes[receiver].attachments where attachment.segment == segment {
        let address = destination.address
        let isReceiver =
          address.isMulticast
          ? (address.isV6 ? attachment.link.usesV6 : attachment.link.usesV4)
          : attachment.link.addresses.contains { $0.address == address.scoped(to: 0) }
        guard isReceiver, !generator.chance(loss) else { continue }
        let from = Endpoint(source.address.scoped(to: attachment.link.index), port: source.port)
        flights.append(
          Flight(
            at: now.advanced(by: delay), receiver: receiver,
            datagram: Datagram(
              payload, from: from, to: destination, interface: attachment.link.index)))
      }
    }
  }

  mutating func inject(_ message: Message, from host: UInt8, port: UInt16 = 5353) {
    inject(message.encoded(), from: Endpoint(.v4(0x0A00_0000 | UInt32(host)), port: port))
  }

  private var nextMoment: Instant? {
    timeouts.reduce(flights.lazy.map(\.at).min()) { earliest($0, $1) }
  }

  /// Advances the time by `duration`.
  mutating func run(for duration: Duration) {
    let end = now.advanced(by: duration)
    _ = run(until: end) { _ in false }
    now = end
  }

  /// Advances the time until the condition holds. Returns whether it did by `end`.
  mutating func run(until end: Instant, _ condition: (SimulatedNetwork) -> Bool) -> Bool {
    var steps = 0
    while !condition(self) {
      guard let next = nextMoment, next <= end else { return false }
      now = max(now, next)
      step()
      steps += 1
      precondition(steps < 1_000_000, "a node keeps asking for a timeout that is already due")
    }
    return true
  }

  private mutating func step() {
    let due = flights.filter { $0.at <= now }
    flights.removeAll { $0.at <= now }
    for flight in due {
      nodes[flight.receiver].machine.handle(flight.datagram, at: now)
      drain(flight.receiver)
    }
    for node in nodes.indices {
      guard let next = timeouts[node], next <= now else { continue }
      nodes[node].machine.handleTimeout(at: now)
      drain(node)
    }
  }
}
