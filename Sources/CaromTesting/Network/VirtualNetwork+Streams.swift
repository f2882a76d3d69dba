import CaromCore

/// Streams are TCP as a program sees it, and no more: bytes in order, none lost, late where the
/// link loses; they share the link's rate with the datagrams and wait at the sender while half of
/// its queue is full. There are no acknowledgements on the way back and no congestion control: a
/// stream fills the rate under loss too, where real ones would not.
extension VirtualNetwork {
  /// How often a call is repeated that nobody answers: after 1, 2, 4 … 64 s, as Linux does.
  static let maximumRepeats = 7

  /// Accepts streams on a port; 0 is a free one. `nil` where the port is taken.
  @discardableResult
  public mutating func listen(_ host: VirtualHost, port: UInt16 = 0) -> UInt16? {
    let taken = machines[host.machine].listeners.contains { $0.port == port }
    guard !taken else { return nil }
    let chosen = port == 0 ? machines[host.machine].freePort() : port
    machines[host.machine].listeners.append((chosen, host.id))
    return chosen
  }

  /// Accepts no more; streams that are open stay.
  public mutating func stopListening(_ host: VirtualHost, port: UInt16) {
    machines[host.machine].listeners.removeAll { $0 == (port, host.id) }
  }

  /// Calls: `connected`, `refused` or `timedOut` follows.
  public mutating func connect(
    from host: VirtualHost, to destination: Endpoint
  ) -> VirtualStream {
    let number = streams.count
    let route = route(from: host, to: destination.address)
    streams.append(makeStream(from: host, to: destination, by: route))
    machines[host.machine].streams.append(number)
    let due = route == nil ? now : arrivalTime(of: 0, number, toward: .listener)
    timeline.insert(.call(stream: number, attempt: 1), at: due)
    return VirtualStream(host: host.id, number: number, side: .caller)
  }

  private mutating func makeStream(
    from host: VirtualHost, to destination: Endpoint, by route: Route?
  ) -> StreamState {
    let card = route?.from ?? host.interfaces[0]
    let address =
      destination.address.isLoopback
      ? destination.address : destination.address.isV6 ? card.v6 : card.v4
    let source = Endpoint(address, port: machines[host.machine].freePort())
    guard let route else {
      return StreamState(
        caller: host.id, source: source, destination: destination, machines: (host.machine, -1),
        links: (-1, -1), interface: 0, epochs: .init())
    }
    let there = link(from: host.machine, to: route.machine)
    let back = link(from: route.machine, to: host.machine)
    return StreamState(
      caller: host.id, source: outside(source, of: card, over: there), destination: destination,
      machines: (host.machine, route.machine), links: (back, there), interface: route.to.index,
      epochs: .init(caller: epoch(of: there), listener: epoch(of: back)))
  }

  /// Sends bytes; they come in order, in pieces that the seed chooses.
  /// False where the stream is not open for writing.
  @discardableResult
  public mutating func write(_ bytes: [UInt8], to stream: VirtualStream) -> Bool {
    let side = stream.side.other
    guard isWritable(stream) else { return false }
    let link = streams[stream.number].link(toward: side)
    var start = 0
    while start < bytes.count {
      let length = min(bytes.count - start, links[link].drawPieceLength())
      let piece = bytes[start..<start + length]
      enqueueBytes(piece, stream.number, toward: side, joins: links[link].drawJoining())
      start += length
    }
    return true
  }

  /// How many of the bytes written wait at the sender: for the link's rate, or for the end of a
  /// cut or a blackout. A writer that stops at a bound of its own has no unbounded queue.
  public func unsentBytes(of stream: VirtualStream) -> Int {
    streams[stream.number][toward: stream.side.other].unsentBytes
  }

  /// Asks for one `drained`, which comes when nothing waits at the sender.
  public mutating func notifyWhenDrained(_ stream: VirtualStream) {
    let side = stream.side.other
    streams[stream.number][toward: side].wantsDrained = true
    if streams[stream.number][toward: side].unsent.count == 0 {
      scheduleDrained(stream.number, toward: side)
    }
  }

  /// Writes no more: the other end gets `end` after all that was written, and may go on writing.
  public mutating func finish(_ stream: VirtualStream) {
    guard isWritable(stream) else { return }
    enqueue(.end, stream.number, toward: stream.side.other)
    streams[stream.number][toward: stream.side.other].isFinished = true
  }

  /// Finishes, and wants no more bytes: those that come all the same are answered with a reset.
  public mutating func close(_ stream: VirtualStream) {
    finish(stream)
    streams[stream.number][toward: stream.side].isUnwanted = true
  }

  /// Breaks off: the other end gets `reset`. A call that was not answered yet is given up.
  public mutating func reset(_ stream: VirtualStream) {
    streams[stream.number][toward: stream.side].isDead = true
    guard streams[stream.number].isOpen, !streams[stream.number][toward: stream.side.other].isDead
    else { return }
    enqueue(.reset, stream.number, toward: stream.side.other)
    streams[stream.number][toward: stream.side.other].isFinished = true
  }

  /// Whether `write` takes bytes: the stream is open and this end did not finish.
  public func isWritable(_ stream: VirtualStream) -> Bool {
    guard streams[stream.number].isOpen else { return false }
    let direction = streams[stream.number][toward: stream.side.other]
    return !direction.isFinished && !direction.isDead
  }
}
