import CaromCore
import CaromProtocol
import CaromTransport

// Listening: one port for streams and datagrams.
extension SessionNode {
  /// How often another port is tried when the system's choice for one kind of link is taken for
  /// the other.
  static let portAttempts = 16

  /// Listens for peers on every one of `addresses`, all on one port, TCP and UDP alike; 0 lets the
  /// system choose. Returns the port.
  public func listen(
    on addresses: [IPAddress] = [.any4, .any6], port: UInt16 = 0
  ) throws(TransportError) -> UInt16 {
    try Self.retrying(port) { () throws(TransportError) in
      try listenOnce(on: addresses, port: port)
    }
  }

  /// Where the system chooses the port, tries again when that is taken for another kind of link.
  static func retrying(
    _ port: UInt16, _ listen: () throws(TransportError) -> UInt16
  ) throws(TransportError) -> UInt16 {
    for attempt in 1... {
      do throws(TransportError) {
        return try listen()
      } catch .addressInUse where port == 0 && attempt < portAttempts {
        continue
      }
    }
    preconditionFailure("the loop above returns or throws")
  }

  /// Listens; where it is `shared` the port may be that of others of the group.
  func listenOnce(
    on addresses: [IPAddress], port: UInt16, shared: Bool = false
  ) throws(TransportError) -> UInt16 {
    var bound: [TCPListener] = []
    var chosen = port
    let before = sockets.count
    do throws(TransportError) {
      for address in addresses {
        if kinds.contains(.stream) {
          let listener = try TCPListener(
            on: loop, owner: self, bind: Endpoint(address, port: chosen),
            options: Self.listenerOptions(shared: shared)
          ) { node, event in
            if case .accepted(let stream) = event { node.accept(stream) }
          }
          bound.append(listener)
          chosen = listener.localEndpoint.port
        }
        if kinds.contains(.datagram) {
          chosen = try bindDatagrams(Endpoint(address, port: chosen), shared: shared).port
        }
      }
    } catch {
      for listener in bound { listener.close() }
      for socket in sockets[before...] { socket.close() }
      sockets.removeSubrange(before...)
      throw error
    }
    listeners += bound
    return chosen
  }

  /// Bytes of datagrams that the system holds for a socket before they are read, and before they
  /// leave: some milliseconds of a full link.
  private static let socketBuffer = 4 << 20

  private static func listenerOptions(shared: Bool) -> TCPListener.Options {
    var options = TCPListener.Options()
    options.reusePort = shared
    return options
  }

  private func bindDatagrams(
    _ local: Endpoint, shared: Bool = false
  ) throws(TransportError) -> Endpoint {
    var options = UDPOptions()
    options.reusePort = shared
    options.probesMTU = true
    options.receivesPacketInfo = false
    options.receiveBuffer = Self.socketBuffer
    options.sendBuffer = Self.socketBuffer
    let place = sockets.count
    let socket = try UDPSocket(on: loop, owner: self, bind: local, options: options) {
      node, batch in node.receive(batch, on: place)
    }
    sockets.append(socket)
    return socket.localEndpoint
  }

  /// The socket that reaches `endpoint`; one is opened if there is none.
  func socket(for endpoint: Endpoint) -> Int? {
    let isV6 = endpoint.address.isV6
    if let place = sockets.firstIndex(where: { $0.localEndpoint.address.isV6 == isV6 }) {
      return place
    }
    do throws(TransportError) {
      _ = try bindDatagrams(Endpoint(isV6 ? .any6 : .any4, port: 0))
      return sockets.count - 1
    } catch { return nil }
  }

  func accept(_ stream: TCPStream) {
    // Links that are on their way out still cost a descriptor each.
    guard leaving.count < Host.connectionLimit else { return stream.reset() }
    let link = lobby.makeConnectionID()
    guard lobby.accept(link, at: loop.now) else { return stream.reset() }
    adopt(stream, as: link)
  }
}
