import CaromCore
import CaromDNS
import CaromTransport

/// Sockets bound to this host's addresses on a link, which receive unicast responses.
///
/// If several sockets are bound to the same address and port, the kernel delivers each unicast
/// datagram to only one of them, which may belong to another program. A socket that is bound to the
/// wildcard address, as the sockets of the system's daemons are, receives no datagram for which
/// there is a more specific socket. Therefore the addresses of a link are bound only while no other
/// socket receives unicast datagrams to any of them, and are released as soon as another socket
/// does. Of several Carom processes on one host, one receives the unicast datagrams; the others do
/// not request unicast responses.
final class UnicastSockets {
  /// The maximum number of addresses of a link that are bound. Unicast responses are not requested
  /// on a link with more addresses.
  static let limit = 16

  private let loop: NetworkLoop
  private var sockets: [IPAddress: UDPSocket] = [:]

  init(on loop: NetworkLoop) { self.loop = loop }

  /// Releases the link's addresses if another socket receives unicast datagrams to one of them.
  /// Otherwise, if `mayBind` is true, binds those that are not bound yet. `bound` lists the address
  /// of every socket that is bound to port 5353. If it is `nil`, because the system does not
  /// provide the list, all addresses are released. Returns whether an address was bound.
  func claim(
    _ link: Link, among bound: [IPAddress]?, mayBind: Bool,
    _ receive: @escaping (borrowing UDPBatch) -> Void
  ) -> Bool {
    let wanted = link.addresses.map(\.address)
    for address in sockets.keys where !wanted.contains(address) { release(address) }
    guard let bound, wanted.count <= Self.limit, !isShared(wanted, among: bound) else {
      close()
      return false
    }
    guard mayBind else { return false }
    var hasBound = false
    for address in wanted where sockets[address] == nil {
      sockets[address] = try? open(address, on: link.index, receive)
      hasBound = hasBound || sockets[address] != nil
    }
    return hasBound
  }

  /// Returns whether a socket other than these is bound to one of `wanted` or to a wildcard
  /// address. The IPv6 wildcard counts for IPv4 too, since its socket may receive both.
  private func isShared(_ wanted: [IPAddress], among bound: [IPAddress]) -> Bool {
    bound.contains { $0 == .any4 || $0 == .any6 }
      || wanted.contains { address in
        bound.count { $0.scoped(to: 0) == address } > (sockets[address] == nil ? 0 : 1)
      }
  }

  /// Returns whether every address of the link is bound by these sockets and by no others.
  func hasAll(of link: Link) -> Bool { link.addresses.allSatisfy { sockets[$0.address] != nil } }

  private func open(
    _ address: IPAddress, on interface: UInt32,
    _ receive: @escaping (borrowing UDPBatch) -> Void
  ) throws(TransportError) -> UDPSocket {
    var options = UDPOptions()
    // `reusePort` stays off, since it would distribute the responses over all processes of one
    // user.
    options.reuseAddress = true
    options.largestDatagram = Message.maximumLength
    options.receiveBuffer = InterfaceSocket.receiveBuffer
    let scope = address.isLinkLocal ? interface : 0
    let local = Endpoint(address.scoped(to: scope), port: MulticastGroup.port)
    return try UDPSocket(on: loop, bind: local, options: options, receive)
  }

  private func release(_ address: IPAddress) { sockets.removeValue(forKey: address)?.close() }

  func close() {
    for socket in sockets.values { socket.close() }
    sockets = [:]
  }
}
