import CaromCore
import CaromDNS

/// Machines on virtual links with virtual time: every multicast reaches everybody on its
/// segment, the sender too, as on a real interface.
struct Hub {
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
    var outgoing: Transmit
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
  /// Probability that a receiver misses a packet.
  var loss = 0.0
  /// Senders whose packets do not arrive, and receivers that hear nothing.
  var cut: Set<Int> = []
  var delay = Duration.microseconds(50)
  private var flights: [Flight] = []
  private var generator: SeededGenerator

  init(seed: UInt64 = 1) { generator = SeededGenerator(seed: seed) }

  /// Adds a node with one interface, index 2, and the address 10.0.0.`host`.
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

  /// Calls a machine and carries out what it wants.
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
    while let outgoing = nodes[node].machine.pollTransmit() { send(outgoing, from: node) }
    while let event = nodes[node].machine.pollEvent() { nodes[node].events.append((now, event)) }
  }

  private mutating func send(_ outgoing: Transmit, from sender: Int) {
    guard
      let origin = nodes[sender].attachments.first(where: {
        $0.link.index == outgoing.interface
      }), let message = try? Message(decoding: outgoing.payload)
    else { return }
    log.append(
      Packet(
        at: now, sender: sender, segment: origin.segment, outgoing: outgoing, message: message))
    let address = outgoing.destination.address
    guard !cut.contains(sender),
      let source = origin.link.addresses.first(where: { $0.address.isV6 == address.isV6 })
    else { return }
    inject(
      outgoing.payload, from: Endpoint(source.address, port: 5353), to: outgoing.destination,
      on: origin.segment)
  }

  /// A packet from anybody on the segment.
  mutating func inject(
    _ payload: [UInt8], from source: Endpoint, to destination: Endpoint = MulticastGroup.v4,
    on segment: Int = 0
  ) {
    for receiver in nodes.indices where !cut.contains(receiver) {
      for place in nodes[receiver].attachments where place.segment == segment {
        let address = destination.address
        let hears =
          address.isMulticast
          ? (address.isV6 ? place.link.usesV6 : place.link.usesV4)
          : place.link.addresses.contains { $0.address == address.scoped(to: 0) }
        guard hears, !generator.chance(loss) else { continue }
        let from = Endpoint(source.address.scoped(to: place.link.index), port: source.port)
        flights.append(
          Flight(
            at: now.advanced(by: delay), receiver: receiver,
            datagram: Datagram(
              payload, from: from, to: destination, interface: place.link.index)))
      }
    }
  }

  mutating func inject(_ message: Message, from host: UInt8, port: UInt16 = 5353) {
    inject(message.encoded(), from: Endpoint(.v4(0x0A00_0000 | UInt32(host)), port: port))
  }

  private var nextMoment: Instant? {
    nodes.reduce(flights.map(\.at).min()) { earliest($0, $1.machine.nextTimeout) }
  }

  /// Lets time pass.
  mutating func run(for duration: Duration) {
    let end = now.advanced(by: duration)
    _ = run(until: end) { _ in false }
    now = end
  }

  /// Lets time pass until the condition holds; says whether it did before `end`.
  mutating func run(until end: Instant, _ condition: (Hub) -> Bool) -> Bool {
    var steps = 0
    while !condition(self) {
      guard let next = nextMoment, next <= end else { return false }
      now = max(now, next)
      step()
      steps += 1
      precondition(steps < 1_000_000, "a machine asks for ever the same timeout")
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
      guard let next = nodes[node].machine.nextTimeout, next <= now else { continue }
      nodes[node].machine.handleTimeout(at: now)
      drain(node)
    }
  }
}
