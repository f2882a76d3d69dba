import CaromCore
import CaromDNS
import CaromTransport

/// Sockets bound to this host's addresses on a link, which receive unicast responses.
///
/// If several sockets are bound to the same address and port, the kernel delivers each unicast
/// datagram to only one of them, which may belong to another program. Therefore an address is bound
/// only if no other socket is bound to it, and released when another socket binds it too. Sockets
/// bound to the wildcard address do not matter, since the kernel prefers the more specific socket.
/// Of several processes on one host, one receives the unicast datagrams; the others do not request
/// unicast responses.
final class UnicastSockets {
  /// The maximum number of addresses of a link that are bound. Unicast responses are not requested
  /// on a link with more addresses.
  static let limit = 16

  private let loop: NetworkLoop
  private var sockets: [IPAddress: UDPSocket] = [:]

  init(on loop: NetworkLoop) { self.loop = loop }

  /// Releases addresses that another socket shares and, if `mayBind` is true, binds the link's
  /// unbound addresses. `bound` lists the address of every bound socket. If it is `nil`, because
  /// the system does not provide the list, all addresses are released. Returns whether an address
  /// was bound.
  func claim(
    _ link: Link, among bound: [IPAddress]?, mayBind: Bool,
    _ receive: @escaping (borrowing UDPBatch) -> Void
  ) -> Bool {
    let wanted = link.addresses.map(\.address)
    for address in sockets.keys where !wanted.contains(address) { release(address) }
    guard let bound, wanted.count <= Self.limit else {
      close()
      return false
    }
    var hasBound = false
    for address in wanted {
      let holders = bound.count { $0.scoped(to: 0) == address }
      if sockets[address] != nil {
        if holders > 1 { release(address) }
      } else if holders == 0, mayBind {
        sockets[address] = try? open(address, on: link.index, receive)
        hasBound = hasBound || sockets[address] != nil
      }
    }
    return hasBound
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
