import CaromCore
import CaromProtocol
import CaromTransport

// The data channels of pages.
extension SessionNode {
  /// Makes an offer of a data channel to a page that has reached the node at `local`. Returns nil
  /// if the node has no data channels.
  func makeOffer(at local: Endpoint) -> DataChannels.Offer? {
    // Datagrams of one page may arrive at another loop than its WebSocket. A browser does not
    // understand datagrams to which routing bytes were added for a proxy.
    guard browsers.allowsDataChannels, kinds.contains(.datagram), group == nil,
      routing.sent == nil, !isShutDown,
      sockets.datagrams.contains(where: { $0.localEndpoint.port == local.port })
    else { return nil }
    if sockets.channels == nil {
      do throws(TransportError) {
        sockets.channels = try DataChannels(on: loop)
      } catch { return nil }
    }
    return sockets.channels?.makeOffer(at: local, loop.now)
  }

  /// Tells the machine which data channels have ended, and gives new ones a timer.
  func updateChannels() {
    guard let channels = sockets.channels else { return }
    for route in channels.takeEnded() { lobby.host.handleChannelEnd(route, at: loop.now) }
    guard !channels.withoutTimer.isEmpty else { return }
    channels.giveTimers(at: loop.now) { name in
      LoopTimer(on: loop, owner: self) { node in
        let sockets = node.sockets.datagrams
        node.sockets.channels?.handleTimeout(name, at: node.loop.now) {
          sockets.transmit($0, to: $1, on: $2)
        }
        node.updateChannels()
        node.drain()
      }
    }
  }

  func closeChannels() {
    let datagrams = sockets.datagrams
    sockets.channels?.closeAll(at: loop.now) { datagrams.transmit($0, to: $1, on: $2) }
    for socket in datagrams { socket.flush() }
    sockets.channels = nil
  }
}

extension [UDPSocket] {
  /// Sends a datagram through the socket with an index, if there is one.
  func transmit(_ datagram: Span<UInt8>, to endpoint: Endpoint, on socket: Int) {
    if indices.contains(socket) { self[socket].send(datagram, to: endpoint) }
  }
}
