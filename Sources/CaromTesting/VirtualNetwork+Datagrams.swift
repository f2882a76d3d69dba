import CaromCore

struct SocketState: Sendable {
  let host: VirtualHost.ID
  let port: UInt16
  var isOpen = true
  var groups: [Membership] = []

  struct Membership: Equatable, Sendable {
    let group: IPAddress
    let interface: UInt32
  }
}

extension VirtualNetwork {
  /// The largest payload that a datagram carries (IPv4: 65,535 less two headers).
  public static let maximumPayload = 65_507
  /// What one frame of a network card carries, bytes; a longer datagram travels in fragments and
  /// is lost if one of them is.
  static let fragmentLength = 1_472

  /// Opens a socket on every address of the host. Sockets may share a port: multicast comes to
  /// all of them, anything else to one that is drawn. Port 0 is a free one.
  public mutating func bind(_ host: VirtualHost, port: UInt16 = 0) -> VirtualSocket {
    let machine = host.machine
    let socket = VirtualSocket(host: host.id, number: sockets.count)
    sockets.append(SocketState(host: host.id, port: port == 0 ? freePort(of: machine) : port))
    machines[machine].sockets.append(socket.number)
    return socket
  }

  /// The socket's port.
  public func port(of socket: VirtualSocket) -> UInt16 { sockets[socket.number].port }

  /// Closes the socket; what is still on its way to it vanishes.
  public mutating func close(_ socket: VirtualSocket) {
    guard sockets[socket.number].isOpen else { return }
    sockets[socket.number].isOpen = false
    machines[machine(of: socket.host)].sockets.removeAll { $0 == socket.number }
  }

  /// Lets the group's datagrams in that come by an interface; 0 means every interface.
  public mutating func join(_ group: IPAddress, on socket: VirtualSocket, interface: UInt32 = 0) {
    precondition(group.isMulticast, "a group has a multicast address")
    for card in hosts[socket.host.number].interfaces
    where interface == 0 || interface == card.index {
      let membership = SocketState.Membership(group: group.scoped(to: 0), interface: card.index)
      guard !sockets[socket.number].groups.contains(membership) else { continue }
      sockets[socket.number].groups.append(membership)
    }
  }

  /// Undoes `join`.
  public mutating func leave(_ group: IPAddress, on socket: VirtualSocket, interface: UInt32 = 0) {
    sockets[socket.number].groups.removeAll {
      $0.group == group.scoped(to: 0) && (interface == 0 || interface == $0.interface)
    }
  }

  /// Sends from a socket. The source is the socket's; a multicast one leaves by `interface`, or
  /// by the first, and comes to the sender's own machine too, as it does where
  /// IP_MULTICAST_LOOP is on.
  public mutating func send(
    _ payload: [UInt8], from socket: VirtualSocket, to destination: Endpoint,
    interface: UInt32 = 0, hopLimit: UInt8? = nil
  ) {
    precondition(payload.count <= Self.maximumPayload, "a datagram has at most 65,507 bytes")
    let sender = hosts[socket.host.number]
    guard sockets[socket.number].isOpen, !machines[sender.machine].isCrashed else { return }
    counters.datagramsSent += 1
    counters.datagramBytesSent += payload.count
    let isMulticast = destination.address.isMulticast
    let datagram = Datagram(
      payload, from: Endpoint(.any4, port: sockets[socket.number].port), to: destination,
      interface: interface, hopLimit: hopLimit ?? (isMulticast ? 1 : 64))
    if isMulticast {
      counters.multicastsSent += 1
      multicast(datagram, from: sender)
    } else {
      unicast(datagram, from: sender)
    }
  }

  /// Sends a datagram as a machine made it: its source is replaced by the socket's.
  public mutating func send(_ datagram: Datagram, from socket: VirtualSocket) {
    send(
      datagram.payload, from: socket, to: datagram.destination, interface: datagram.interface,
      hopLimit: datagram.hopLimit)
  }

  /// Puts a datagram with any source at all before a socket, at once: an attacker's.
  public mutating func inject(_ datagram: Datagram, to socket: VirtualSocket) {
    timeline.schedule(
      .datagram(datagram, from: machine(of: socket.host), to: socket), at: now)
  }

  mutating func freePort(of machine: Int) -> UInt16 {
    defer {
      let port = machines[machine].nextPort
      machines[machine].nextPort = port == .max ? 49_152 : port + 1
    }
    return machines[machine].nextPort
  }

  private mutating func multicast(_ original: Datagram, from sender: VirtualHost) {
    let address = original.destination.address
    let wanted = scope(of: address) ?? original.interface
    guard let card = sender.interfaces.first(where: { wanted == 0 || $0.index == wanted }) else {
      counters.datagramsUnclaimed += 1
      return
    }
    let group = address.scoped(to: 0)
    for machine in machines.indices {
      guard let target = machines[machine].interfaces.first(where: { $0.segment == card.segment })
      else { continue }
      let membership = SocketState.Membership(group: group, interface: target.index)
      for number in machines[machine].sockets
      where sockets[number].port == original.destination.port
        && sockets[number].groups.contains(membership)
      {
        var copy = original
        copy.address(from: card, to: target, as: group)
        dispatch(copy, from: sender.machine, to: number)
      }
    }
  }

  private mutating func unicast(_ original: Datagram, from sender: VirtualHost) {
    guard let route = route(from: sender, to: original.destination.address) else {
      counters.datagramsUnclaimed += 1
      return
    }
    let claimed = machines[route.machine].sockets.filter {
      sockets[$0].port == original.destination.port
    }
    guard let socket = claimed.randomElement(using: &generator) else {
      counters.datagramsUnclaimed += 1
      return
    }
    var copy = original
    copy.address(from: route.from, to: route.to, as: original.destination.address)
    dispatch(copy, from: sender.machine, to: socket)
  }

  /// Draws loss, doubling and delay.
  private mutating func dispatch(_ datagram: Datagram, from machine: Int, to socket: Int) {
    let target = VirtualSocket(host: sockets[socket].host, number: socket)
    let way = conditions(from: machine, to: self.machine(of: target.host))
    let copies = generator.chance(way.duplication) ? 2 : 1
    counters.datagramsDoubled += copies - 1
    for _ in 0..<copies {
      let fragments = 1 + datagram.payload.count / Self.fragmentLength
      guard !(0..<fragments).contains(where: { _ in generator.chance(way.loss) }) else {
        counters.datagramsLost += 1
        note("lost: datagram of \(datagram.payload.count) to \(target.host)")
        continue
      }
      let delay = generator.duration(in: way.delay)
      timeline.schedule(.datagram(datagram, from: machine, to: target), at: now + delay)
    }
  }

  mutating func arriveDatagram(
    _ datagram: Datagram, from machine: Int, on socket: VirtualSocket
  ) -> VirtualEvent? {
    guard !isCut(from: machine, to: self.machine(of: socket.host)) else {
      counters.datagramsCut += 1
      note("cut: datagram of \(datagram.payload.count) to \(socket.host)")
      return nil
    }
    guard sockets[socket.number].isOpen else {
      counters.datagramsUnclaimed += 1
      return nil
    }
    counters.datagramsDelivered += 1
    return .datagram(datagram, on: socket)
  }
}

extension Datagram {
  /// Fills in what the two kernels know: the sender's address and the receiver's interface.
  fileprivate mutating func address(
    from card: VirtualHost.Interface, to target: VirtualHost.Interface, as address: IPAddress
  ) {
    let isV6 = address.isV6
    if address.isLoopback {
      source.address = address
      interface = 1
      return
    }
    source.address = isV6 ? card.v6.scoped(to: target.index) : card.v4
    destination.address = address.scoped(to: target.index)
    interface = target.index
  }
}
