import CaromCore
import CaromDNS
import CaromTransport

/// The sockets of one interface: one for each family's group, and one for each own address.
///
/// A socket that is bound to a group and joined on one interface hears exactly that interface's
/// multicast; one that is bound to an own address hears exactly the unicast to it.
final class InterfaceSocket {
  /// Bytes that may wait in the system for each socket: the answers of some hundreds of hosts to
  /// one question come at once, and what is lost is asked for again a second later.
  static let receiveBuffer = 1 << 20

  /// The interface as it was when it was last looked at.
  private(set) var interface: Interface
  /// The link as the machines see it.
  private(set) var link: Link
  /// What was dropped before it was parsed.
  private(set) var counters = DiscoveryCounters()
  private let loop: NetworkLoop
  private let receive: (Datagram) -> Void
  private var v4: UDPSocket?
  private var v6: UDPSocket?
  private let own: UnicastSockets

  /// Opens what works; throws where nothing does.
  init(
    on loop: NetworkLoop, _ interface: Interface, _ receive: @escaping (Datagram) -> Void
  ) throws(TransportError) {
    self.loop = loop
    self.interface = interface
    self.receive = receive
    link = Link(index: interface.index, addresses: [])
    own = UnicastSockets(on: loop)
    try update(to: interface)
  }

  /// The interface's addresses; on loopback the IPv4 ones alone where it has some, since
  /// multicast over IPv6 needs a route there.
  static func advertised(_ interface: Interface) -> [Link.Address] {
    let all = interface.addresses.map {
      Link.Address($0.address, prefixLength: $0.prefixLength)
    }
    let v4 = all.filter { !$0.address.isV6 }
    return interface.isLoopback && !v4.isEmpty ? v4 : all
  }

  /// Whether it is the same interface, however its addresses and its cable have changed.
  func serves(_ current: Interface) -> Bool {
    current.index == interface.index && current.name == interface.name
  }

  /// Takes over what the interface has become: opens what is new, closes what is needless.
  func update(to current: Interface) throws(TransportError) {
    interface = current
    let addresses = Self.advertised(current)
    var failure: TransportError?
    v4 = adjust(v4, MulticastGroup.v4, addresses, &failure)
    v6 = adjust(v6, MulticastGroup.v6, addresses, &failure)
    link = Link(
      index: current.index, addresses: addresses, usesV4: v4 != nil, usesV6: v6 != nil,
      epoch: current.carrierChanges, receivesUnicast: link.receivesUnicast,
      mtu: current.largestPacket == 0 ? nil : current.largestPacket)
    if v4 == nil, v6 == nil { throw failure ?? .noSuchInterface }
  }

  /// A family's group socket, as long as the interface has addresses of that family.
  private func adjust(
    _ socket: UDPSocket?, _ group: Endpoint, _ addresses: [Link.Address],
    _ failure: inout TransportError?
  ) -> UDPSocket? {
    guard addresses.contains(where: { $0.address.isV6 == group.address.isV6 }) else {
      socket?.close()
      return nil
    }
    if let socket, socket.isOpen { return socket }
    do throws(TransportError) {
      return try open(group)
    } catch {
      failure = failure ?? error
      return nil
    }
  }

  private func open(_ group: Endpoint) throws(TransportError) -> UDPSocket {
    var options = UDPOptions()
    options.reuseAddress = true
    options.reusePort = true
    options.largestDatagram = Message.maximumLength
    options.receiveBuffer = Self.receiveBuffer
    let index = interface.index
    let local = Endpoint(group.address.scoped(to: index), port: group.port)
    let socket = try UDPSocket(on: loop, bind: local, options: options) { [weak self] batch in
      self?.hear(batch, isUnicast: false)
    }
    try socket.join(group.address, on: index)
    try socket.setMulticastInterface(index)
    try socket.setMulticastLoopback(true)
    try socket.setMulticastHopLimit(255)
    try socket.setHopLimit(255)
    return socket
  }

  func send(_ outgoing: Transmit) {
    let socket = outgoing.destination.address.isV6 ? v6 : v4
    socket?.send(outgoing.payload, to: outgoing.destination, interface: link.index)
  }

  func flush() {
    v4?.flush()
    v6?.flush()
  }

  func close() {
    v4?.close()
    v6?.close()
    own.close()
  }
}

// MARK: - Hearing

extension InterfaceSocket {
  /// Hands on what is whole, and what this link's hosts alone can have sent where it was sent to
  /// this host alone (RFC 6762 §11): it may come from anywhere else.
  private func hear(_ batch: borrowing UDPBatch, isUnicast: Bool) {
    for position in batch.indices {
      let received = batch[position]
      guard !received.isTruncated else {
        counters.oversized += 1
        continue
      }
      if isUnicast, !Self.isFrom(link, received.source.address, by: received.interface) {
        counters.offLink += 1
        continue
      }
      var datagram = received.copy()
      datagram.interface = link.index
      receive(datagram)
    }
  }

  /// Whether a datagram came from a host of the link; this host's own come by loopback.
  static func isFrom(_ link: Link, _ source: IPAddress, by arrival: UInt32) -> Bool {
    link.isOnLink(source) && (arrival == link.index || link.hasAddress(source))
  }

  /// Takes the unicast to this host's addresses where nobody else has it. `bound` are the
  /// addresses that sockets are bound to; the second of two looks sees what others did meanwhile.
  /// Says whether something was bound.
  func claimUnicast(_ bound: [IPAddress]?, isFirstLook: Bool) -> Bool {
    let hasBound = own.claim(link, among: bound, mayBind: isFirstLook) { [weak self] batch in
      self?.hear(batch, isUnicast: true)
    }
    link.receivesUnicast = own.hasAll(of: link)
    return hasBound
  }
}
