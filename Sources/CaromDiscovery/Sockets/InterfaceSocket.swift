import CaromCore
import CaromDNS
import CaromTransport

/// The sockets of one interface: one for the multicast group of each address family, and one for
/// each of the host's addresses on the interface.
///
/// Each multicast socket is bound to a group's address and has joined that group on one interface,
/// so it receives only datagrams to the group on that interface. A socket that is bound to one of
/// the host's addresses receives only the datagrams to that address.
final class InterfaceSocket {
  /// The size of each socket's receive buffer in the kernel, in bytes. Several hundred hosts may
  /// answer one query at the same time, and lost answers are not requested again until a second
  /// later.
  static let receiveBuffer = 1 << 20

  /// The interface as of the last update.
  private(set) var interface: Interface
  /// The state of the link as the protocol implementation sees it.
  private(set) var link: Link
  /// The number of datagrams that were dropped before they were parsed, for each reason.
  private(set) var counters = DiscoveryCounters()
  private let loop: NetworkLoop
  private let receive: ([Datagram]) -> Void
  private var v4: UDPSocket?
  private var v6: UDPSocket?
  private let unicast: UnicastSockets

  /// Creates the sockets of an interface and opens the multicast ones. Throws an error if none of
  /// them can be opened. `receive` is called with the accepted datagrams of each received batch.
  init(
    on loop: NetworkLoop, _ interface: Interface, _ receive: @escaping ([Datagram]) -> Void
  ) throws(TransportError) {
    self.loop = loop
    self.interface = interface
    self.receive = receive
    link = Link(index: interface.index, addresses: [])
    unicast = UnicastSockets(on: loop)
    try update(to: interface)
  }

  /// Returns the addresses of an interface that are published. On a loopback interface that has
  /// IPv4 addresses, only those are published, because IPv6 multicast on a loopback interface needs
  /// a route.
  static func advertised(_ interface: Interface) -> [Link.Address] {
    let all = interface.addresses.map {
      Link.Address($0.address, prefixLength: $0.prefixLength)
    }
    let v4 = all.filter { !$0.address.isV6 }
    return interface.isLoopback && !v4.isEmpty ? v4 : all
  }

  /// Returns whether `current` is this socket's interface, possibly with other addresses or another
  /// carrier state.
  func isFor(_ current: Interface) -> Bool {
    current.index == interface.index && current.name == interface.name
  }

  /// Adopts the current state of the interface: opens the sockets that it needs now and closes the
  /// others.
  func update(to current: Interface) throws(TransportError) {
    interface = current
    let addresses = Self.advertised(current)
    var failure: TransportError?
    v4 = updatedSocket(v4, MulticastGroup.v4, addresses, &failure)
    v6 = updatedSocket(v6, MulticastGroup.v6, addresses, &failure)
    link = Link(
      index: current.index, addresses: addresses, usesV4: v4 != nil, usesV6: v6 != nil,
      epoch: current.carrierChanges, receivesUnicast: link.receivesUnicast,
      mtu: current.largestPacket == 0 ? nil : current.largestPacket)
    if v4 == nil, v6 == nil { throw failure ?? .noSuchInterface }
  }

  /// Returns the socket for a group: the given socket if it is open, and otherwise a new one.
  /// Returns nil if the interface has no address of the group's family.
  private func updatedSocket(
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
      self?.receive(batch, isUnicast: false)
    }
    try socket.join(group.address, on: index)
    try socket.setMulticastInterface(index)
    try socket.setMulticastLoopback(true)
    try socket.setMulticastHopLimit(255)
    try socket.setHopLimit(255)
    return socket
  }

  func send(_ transmit: Transmit) {
    let socket = transmit.destination.address.isV6 ? v6 : v4
    socket?.send(transmit.payload, to: transmit.destination, interface: link.index)
  }

  func flush() {
    v4?.flush()
    v6?.flush()
  }

  func close() {
    v4?.close()
    v6?.close()
    unicast.close()
  }
}

// MARK: - Receiving

extension InterfaceSocket {
  /// Passes to the handler those datagrams of a batch that were received in full. If `isUnicast` is
  /// true, drops those that do not come from a host on the link, since unicast can be sent from
  /// anywhere (RFC 6762 §11).
  private func receive(_ batch: borrowing UDPBatch, isUnicast: Bool) {
    var accepted: [Datagram] = []
    for index in batch.indices {
      let received = batch[index]
      guard !received.isTruncated else {
        counters.oversized += 1
        continue
      }
      if isUnicast, !Self.isOnLink(link, received.source.address, arrival: received.interface) {
        counters.offLink += 1
        continue
      }
      var datagram = received.copy()
      datagram.interface = link.index
      accepted.append(datagram)
    }
    if !accepted.isEmpty { receive(accepted) }
  }

  /// Returns whether a datagram with this source, received on the interface with index `arrival`,
  /// was sent by a host on the link. This host's own datagrams count, although they arrive on the
  /// loopback interface.
  static func isOnLink(_ link: Link, _ source: IPAddress, arrival: UInt32) -> Bool {
    link.isOnLink(source) && (arrival == link.index || link.hasAddress(source))
  }

  /// Releases the link's addresses if another socket receives unicast datagrams to one of them.
  /// Otherwise, if `mayBind` is true, binds those that are not bound yet. `bound` lists the address
  /// of every socket that is bound to port 5353; if it is `nil`, all addresses are released.
  /// Returns whether an address was bound.
  func claimUnicast(_ bound: [IPAddress]?, mayBind: Bool) -> Bool {
    let hasBound = unicast.claim(link, among: bound, mayBind: mayBind) { [weak self] batch in
      self?.receive(batch, isUnicast: true)
    }
    link.receivesUnicast = unicast.hasAll(of: link)
    return hasBound
  }
}
