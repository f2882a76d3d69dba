import CaromCore
import CaromProtocol
import CaromTransport

// Listening on one port for streams and datagrams.
extension SessionNode {
  /// The maximum number of attempts to find a port that is free for both TCP and UDP.
  static let portAttempts = 16

  /// Listens for peers on each of `addresses`, with one port for both TCP and UDP. If `port` is 0,
  /// the system chooses the port. Returns the port.
  public func listen(
    on addresses: [IPAddress] = [.any4, .any6], port: UInt16 = 0
  ) throws(TransportError) -> UInt16 {
    try Self.retrying(port) { () throws(TransportError) in
      try listenOnce(on: addresses, port: port)
    }
  }

  /// Returns the port that `listen` returns. Calls `listen` again if the system chose a port that
  /// the other kind of link cannot use.
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

  /// Tries once to listen on `addresses` and returns the port. If `shared` is true, other nodes of
  /// the group may listen on the same port.
  func listenOnce(
    on addresses: [IPAddress], port: UInt16, shared: Bool = false
  ) throws(TransportError) -> UInt16 {
    var bound: [TCPListener] = []
    var chosen = port
    let before = sockets.datagrams.count
    do throws(TransportError) {
      for address in addresses {
        if !kinds.isDisjoint(with: [.stream, .webSocket]) {
          let listener = try TCPListener(
            on: loop, owner: self, bind: Endpoint(address, port: chosen),
            options: Self.listenerOptions(shared: shared)
          ) { node, event in
            if case .accepted(let stream) = event { node.open(stream) }
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
      sockets.closeDatagrams(from: before)
      throw error
    }
    sockets.listeners += bound
    return chosen
  }

  /// The size of a UDP socket's receive and send buffers, in bytes. A buffer of this size holds 3
  /// ms of traffic at 10 Gbit/s.
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
    options.sentRouting = routing.sent
    options.receivedRouting = routing.received
    let index = sockets.datagrams.count
    let socket = try UDPSocket(on: loop, owner: self, bind: local, options: options) {
      node, batch in node.receive(batch, on: index)
    }
    sockets.datagrams.append(socket)
    return socket.localEndpoint
  }

  /// Receives a batch of datagrams. Messages that do not have to wait are delivered without being
  /// stored in their connections first.
  private func receive(_ batch: borrowing UDPBatch, on socket: Int) {
    updateWallClock()
    if let simulation { return delay(batch, on: socket, by: simulation) }
    var arrivals = Arrivals()
    swap(&arrivals, &self.arrivals)
    arrivals.channels = feed.hasHandler ? feed.paused.inverted : ChannelMask()
    bytesReceived += Self.receive(
      batch, on: socket, sockets.channels, of: sockets.datagrams, into: &arrivals, &lobby,
      at: loop.now)
    turn.isDraining = true  // what the handler sends is sent below
    var opened: [UInt8] = []
    swapOpened(&opened)
    for message in arrivals.messages {
      let start = Int(message.offset)
      let range = start..<start + Int(message.length)
      guard message.datagram >= 0 else {
        deliver(message, opened.span.extracting(range))
        continue
      }
      deliver(message, batch[Int(message.datagram)].payload.extracting(range))
    }
    swapOpened(&opened)
    turn.isDraining = false
    arrivals.removeAll()
    swap(&arrivals, &self.arrivals)
    updateChannels()
    drain()
  }

  /// Swaps `opened` with the machine's buffer of decrypted packets.
  // Not inlined, so that the optimizer cannot merge the accesses to `lobby` before and after the
  // messages are delivered.
  @inline(never)
  private func swapOpened(_ opened: inout [UInt8]) { lobby.host.swapOpened(&opened) }

  /// Passes a batch of datagrams to the machine, which is accessed only once for the whole batch.
  /// Returns the number of bytes received.
  private static func receive(
    _ batch: borrowing UDPBatch, on socket: Int, _ channels: DataChannels?,
    of sockets: [UDPSocket], into arrivals: inout Arrivals, _ lobby: inout Lobby, at now: Instant
  ) -> UInt64 {
    var count = 0
    for index in batch.indices {
      let datagram = batch[index]
      guard !datagram.isTruncated else { continue }
      count += datagram.payload.count
      if let channels {
        let isOfChannel = channels.receive(
          datagram.payload, from: datagram.source, on: socket, at: now
        ) {
          sockets.transmit($0, to: $1, on: $2)
        } deliver: {
          lobby.receiveDatagram($0, from: $1, at: now)
        }
        // A channel's path must not outlive it: the next datagram may be forged.
        if channels.hasEnded {
          for route in channels.takeEnded() { lobby.host.handleChannelEnd(route, at: now) }
        }
        if isOfChannel { continue }
      }
      arrivals.datagram = index
      lobby.receiveDatagram(
        datagram.payload, from: Route(datagram.source, socket: socket), into: &arrivals, at: now)
    }
    return UInt64(count)
  }

  /// Returns the index of a UDP socket for the endpoint's address family, opening the socket if
  /// necessary. Returns nil if the socket cannot be opened.
  func socket(for endpoint: Endpoint) -> Int? {
    let isV6 = endpoint.address.isV6
    if let index = sockets.datagrams.firstIndex(where: {
      $0.localEndpoint.address.isV6 == isV6
    }) {
      return index
    }
    do throws(TransportError) {
      _ = try bindDatagrams(Endpoint(isV6 ? .any6 : .any4, port: 0))
      return sockets.datagrams.count - 1
    } catch { return nil }
  }
}
