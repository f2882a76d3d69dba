import CaromCore
import CaromDNS
import CaromTransport

/// Sockets bound to a link's own addresses, for what is sent to this host alone.
///
/// Of several sockets that are bound to one address the system gives a unicast to one, which may
/// be another program's. So an address is bound only where no other socket is bound to it, and
/// let go where another one came; those that are bound to every address do not matter, since the
/// more specific one is given the unicast. Of several processes on one host one has the unicast,
/// and the others do not ask for it.
final class UnicastSockets {
  /// Addresses of a link that are bound at most; a link with more asks for no unicast.
  static let limit = 16

  private let loop: NetworkLoop
  private var sockets: [IPAddress: UDPSocket] = [:]

  init(on loop: NetworkLoop) { self.loop = loop }

  /// Binds what is free and lets go what is contested; says whether something was bound. `bound`
  /// has an address once for each socket that is bound to it, `nil` where the system does not
  /// tell.
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

  /// Whether every address of the link is bound here, and nowhere else.
  func hasAll(of link: Link) -> Bool { link.addresses.allSatisfy { sockets[$0.address] != nil } }

  private func open(
    _ address: IPAddress, on interface: UInt32,
    _ receive: @escaping (borrowing UDPBatch) -> Void
  ) throws(TransportError) -> UDPSocket {
    var options = UDPOptions()
    // No `reusePort`: that would spread the answers over all processes of one user.
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
