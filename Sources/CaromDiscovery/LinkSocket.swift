import CaromCore
import CaromDNS
import CaromTransport

/// The sockets of one interface: one for each family's group, since a socket that is bound to a
/// group and joined on one interface hears exactly that interface's multicast.
final class LinkSocket {
  /// The interface as it was when the sockets were opened.
  let interface: Interface
  /// The link as the machines see it.
  let link: Link
  private let v4: UDPSocket?
  private let v6: UDPSocket?

  /// Opens what works; throws where nothing does.
  init(
    on loop: EventLoop, _ interface: Interface, _ receive: @escaping (Datagram) -> Void
  ) throws(TransportError) {
    self.interface = interface
    let addresses = Self.advertised(interface)
    let index = interface.index
    var failure: TransportError?
    var sockets: [UDPSocket?] = []
    for group in [Group.v4, Group.v6] {
      guard addresses.contains(where: { $0.address.isV6 == group.address.isV6 }) else {
        sockets.append(nil)
        continue
      }
      do throws(TransportError) {
        sockets.append(try Self.open(on: loop, group, index, receive))
      } catch {
        failure = failure ?? error
        sockets.append(nil)
      }
    }
    (v4, v6) = (sockets[0], sockets[1])
    if v4 == nil, v6 == nil { throw failure ?? .noSuchInterface }
    link = Link(index: index, addresses: addresses, usesV4: v4 != nil, usesV6: v6 != nil)
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

  private static func open(
    on loop: EventLoop, _ group: Endpoint, _ index: UInt32,
    _ receive: @escaping (Datagram) -> Void
  ) throws(TransportError) -> UDPSocket {
    var options = UDPOptions()
    options.reuseAddress = true
    options.reusePort = true
    options.largestDatagram = Message.maximumLength
    let local = Endpoint(group.address.scoped(to: index), port: group.port)
    let socket = try UDPSocket(on: loop, bind: local, options: options) { batch in
      for position in batch.indices where !batch[position].isTruncated {
        var datagram = batch[position].copy()
        datagram.interface = index
        receive(datagram)
      }
    }
    try socket.join(group.address, on: index)
    try socket.setMulticastInterface(index)
    try socket.setMulticastLoopback(true)
    try socket.setMulticastHopLimit(255)
    try socket.setHopLimit(255)
    return socket
  }

  /// Whether the same sockets serve the interface as it is now.
  func serves(_ current: Interface) -> Bool { current == interface }

  func send(_ outgoing: Outgoing) {
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
  }
}
