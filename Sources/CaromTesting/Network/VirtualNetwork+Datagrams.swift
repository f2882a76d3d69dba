import CaromCore

extension VirtualNetwork {
  /// The maximum length of a datagram's payload, in bytes: 65,535 minus the IPv4 and UDP headers.
  public static let maximumPayload = 65_507

  // MARK: Sockets

  /// Opens and returns a socket on all addresses of the host. Port 0 selects a free port. Several
  /// sockets may share a port: multicast is delivered to all of them, and unicast to a random one.
  public mutating func bind(_ host: VirtualHost, port: UInt16 = 0) -> VirtualSocket {
    let socket = VirtualSocket(host: host.id, number: sockets.count)
    let port = port == 0 ? machines[host.machine].freePort() : port
    sockets.append(SocketState(host: host.id, port: port))
    machines[host.machine].open(socket.number, port: port)
    return socket
  }

  /// Returns the port to which a socket is bound.
  public func port(of socket: VirtualSocket) -> UInt16 { sockets[socket.number].port }

  /// Closes a socket. Datagrams in flight to it are dropped.
  public mutating func close(_ socket: VirtualSocket) {
    guard sockets[socket.number].isOpen else { return }
    for group in sockets[socket.number].groups { leave(group, on: socket) }
    sockets[socket.number].isOpen = false
    machines[machine(of: socket.host)].close(socket.number, port: port(of: socket))
  }

  /// Joins a multicast group on the interface with the given index, or on all interfaces if the
  /// index is 0.
  public mutating func join(_ group: IPAddress, on socket: VirtualSocket, interface: UInt32 = 0) {
    precondition(group.isMulticast, "a group must have a multicast address")
    guard sockets[socket.number].isOpen else { return }
    let member = member(socket)
    for group in groups(group, of: socket, interface: interface)
    where !sockets[socket.number].groups.contains(group) {
      sockets[socket.number].groups.append(group)
      members[group, default: []].insert(sorted: member)
    }
  }

  /// Leaves a multicast group on the interface with the given index, or on all interfaces if the
  /// index is 0.
  public mutating func leave(_ group: IPAddress, on socket: VirtualSocket, interface: UInt32 = 0) {
    for group in groups(group, of: socket, interface: interface) { leave(group, on: socket) }
  }

  private mutating func leave(_ group: SocketState.Group, on socket: VirtualSocket) {
    sockets[socket.number].groups.removeAll { $0 == group }
    let member = member(socket)
    members[group]?.remove(sorted: member)
  }

  private func groups(_ address: IPAddress, of socket: VirtualSocket, interface: UInt32)
    -> [SocketState.Group]
  {
    hosts[socket.host.number].interfaces.filter { interface == 0 || interface == $0.index }.map {
      .init(address: address.scoped(to: 0), port: port(of: socket), segment: $0.segment)
    }
  }

  private func member(_ socket: VirtualSocket) -> SocketState.Member {
    .init(machine: machine(of: socket.host), socket: socket.number)
  }

  // MARK: Sending

  /// Sends a datagram from a socket. Multicast is sent on the interface with the index `interface`,
  /// or on the first interface if the index is 0. The sender's own machine receives multicast too,
  /// as with `IP_MULTICAST_LOOP`.
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
      payload, from: Endpoint(.any4, port: port(of: socket)), to: destination,
      interface: interface, hopLimit: hopLimit ?? (isMulticast ? 1 : 64))
    if isMulticast {
      counters.multicastsSent += 1
      multicast(datagram, from: sender)
    } else {
      unicast(datagram, from: sender)
    }
  }

  /// Sends a datagram from a socket, whose endpoint replaces the datagram's source.
  public mutating func send(_ datagram: Datagram, from socket: VirtualSocket) {
    send(
      datagram.payload, from: socket, to: datagram.destination, interface: datagram.interface,
      hopLimit: datagram.hopLimit)
  }

  /// Delivers a datagram to a socket immediately. The source can be any endpoint, as in an attack
  /// with spoofed addresses.
  public mutating func inject(_ datagram: Datagram, to socket: VirtualSocket) {
    timeline.insert(.delivery(datagram, to: socket), at: now)
  }

  /// Sends one copy of a multicast datagram to each machine on the segment that has a socket in the
  /// group.
  private mutating func multicast(_ original: Datagram, from sender: VirtualHost) {
    let address = original.destination.address
    let wanted = scope(of: address) ?? original.interface
    guard let card = sender.interfaces.first(where: { wanted == 0 || $0.index == wanted }) else {
      drop(original, for: .unreachable)
      return
    }
    let group = SocketState.Group(
      address: address.scoped(to: 0), port: original.destination.port, segment: card.segment)
    var last = -1
    for member in members[group] ?? [] where member.machine != last {
      last = member.machine
      let cards = machines[member.machine].interfaces
      guard let target = cards.first(where: { $0.segment == card.segment }) else { continue }
      var copy = original
      copy.address(from: card, to: target, as: group.address)
      pass(copy, over: link(from: sender.machine, to: member.machine))
    }
  }

  private mutating func unicast(_ original: Datagram, from sender: VirtualHost) {
    guard let route = route(from: sender, to: original.destination.address) else {
      drop(original, for: .unreachable)
      return
    }
    var copy = original
    copy.address(from: route.from, to: route.to, as: original.destination.address)
    let link = link(from: sender.machine, to: route.machine)
    copy.source = externalSource(copy.source, of: route.from, over: link)
    pass(copy, over: link)
  }

  // MARK: Receiving

  /// Handles the arrival of a datagram at the end of a link. Returns the event for the receiving
  /// host, or nil if the datagram is dropped.
  mutating func handleDatagram(_ datagram: Datagram, over link: Int) -> VirtualEvent? {
    var reason = obstacle(on: link)
    if reason == nil, links[link].conditions.blocksDatagrams { reason = .blocked }
    if reason == nil, links[link].conditions.outage?.end(at: now) != nil { reason = .outage }
    if let reason {
      drop(datagram, over: link, for: reason)
      return nil
    }
    return datagram.destination.address.isMulticast
      ? handleMulticast(datagram, over: link) : handleUnicast(datagram, over: link)
  }

  private mutating func handleUnicast(_ original: Datagram, over link: Int) -> VirtualEvent? {
    let interface = original.interface
    guard
      let destination = internalEndpoint(original.destination, by: interface, over: link)
    else {
      drop(original, over: link, for: .mapping)
      return nil
    }
    var datagram = original
    datagram.destination = destination
    guard let claimed = machines[links[link].to].ports[destination.port] else {
      drop(datagram, over: link, for: .unclaimed)
      return nil
    }
    let choice = claimed.count == 1 ? 0 : Int.random(in: 0..<claimed.count, using: &generator)
    countDelivery(datagram, over: link)
    return deliver(datagram, to: claimed[choice])
  }

  /// Delivers a multicast datagram to all sockets on the machine that are members of the group: to
  /// the first socket now, and to the others by events scheduled for the same time. Returns the
  /// event for the first socket, or nil if the machine has no such socket.
  private mutating func handleMulticast(_ datagram: Datagram, over link: Int) -> VirtualEvent? {
    let machine = links[link].to
    let card = machines[machine].interfaces[Int(datagram.interface) - 2]
    let group = SocketState.Group(
      address: datagram.destination.address.scoped(to: 0), port: datagram.destination.port,
      segment: card.segment)
    let all = members[group] ?? []
    let start = all.insertionIndex(of: .init(machine: machine, socket: 0))
    let here = all[start...].prefix { $0.machine == machine }
    guard let first = here.first else {
      drop(datagram, over: link, for: .unclaimed)
      return nil
    }
    countDelivery(datagram, over: link)
    for member in here.dropFirst() {
      let socket = VirtualSocket(host: sockets[member.socket].host, number: member.socket)
      timeline.insert(.delivery(datagram, to: socket), at: now)
    }
    return deliver(datagram, to: first.socket)
  }

  private mutating func countDelivery(_ datagram: Datagram, over link: Int) {
    links[link].counters.delivered += 1
    links[link].counters.bytesDelivered += WireLength.datagram(
      payload: datagram.payload.count, isV6: datagram.destination.address.isV6)
    record(.delivered, datagram, over: link)
  }

  private mutating func deliver(_ datagram: Datagram, to number: Int) -> VirtualEvent? {
    deliver(datagram, to: VirtualSocket(host: sockets[number].host, number: number))
  }

  mutating func deliver(_ datagram: Datagram, to socket: VirtualSocket) -> VirtualEvent? {
    guard sockets[socket.number].isOpen else {
      drop(datagram, for: .unclaimed)
      return nil
    }
    counters.datagramsDelivered += 1
    return .datagram(datagram, on: socket)
  }
}

extension Datagram {
  /// Sets the fields of the datagram that the kernels of both machines fill in: the sender's
  /// address, the scope of the destination, and the receiver's interface.
  fileprivate mutating func address(
    from card: VirtualHost.Interface, to target: VirtualHost.Interface, as address: IPAddress
  ) {
    if address.isLoopback {
      source.address = address
      interface = 1
      return
    }
    source.address = address.isV6 ? card.v6.scoped(to: target.index) : card.v4
    destination.address = address.scoped(to: target.index)
    interface = target.index
  }
}
