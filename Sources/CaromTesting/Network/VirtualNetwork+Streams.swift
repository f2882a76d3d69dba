import CaromCore

/// A model of TCP as a program sees it: the bytes of a stream arrive reliably and in
/// order, and losses cause delays. Streams share the link's bandwidth with datagrams, and wait at
/// the sender while the link's queue is more than half full. There are no acknowledgements and no
/// congestion control, so unlike a real TCP connection, a stream uses the full bandwidth even under
/// loss.
extension VirtualNetwork {
  /// The maximum number of times that an unanswered connection request is repeated: after 1, 2, 4 …
  /// 64 s, as in Linux.
  static let maximumRepeats = 7

  /// Listens for streams on a port; port 0 selects a free port. Returns the port, or nil if the
  /// port is in use.
  @discardableResult
  public mutating func listen(_ host: VirtualHost, port: UInt16 = 0) -> UInt16? {
    let taken = machines[host.machine].listeners.contains { $0.port == port }
    guard !taken else { return nil }
    let chosen = port == 0 ? machines[host.machine].freePort() : port
    machines[host.machine].listeners.append((chosen, host.id))
    return chosen
  }

  /// Stops listening on a port. Open streams continue.
  public mutating func stopListening(_ host: VirtualHost, port: UInt16) {
    machines[host.machine].listeners.removeAll { $0 == (port, host.id) }
  }

  /// Opens a stream to a listener and returns this host's end. A `connected`, `refused` or
  /// `timedOut` event follows.
  public mutating func connect(
    from host: VirtualHost, to destination: Endpoint
  ) -> VirtualStream {
    let number = streams.count
    let route = route(from: host, to: destination.address)
    streams.append(makeStream(from: host, to: destination, by: route))
    machines[host.machine].streams.append(number)
    let due = route == nil ? now : arrivalTime(of: 0, number, toward: .listener)
    timeline.insert(.connect(stream: number, attempt: 1), at: due)
    return VirtualStream(host: host.id, number: number, side: .client)
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
        client: host.id, source: source, destination: destination, machines: (host.machine, -1),
        links: (-1, -1), interface: 0, epochs: .init())
    }
    let there = link(from: host.machine, to: route.machine)
    let back = link(from: route.machine, to: host.machine)
    return StreamState(
      client: host.id, source: externalSource(source, of: card, over: there),
      destination: destination, machines: (host.machine, route.machine), links: (back, there),
      interface: route.to.index,
      epochs: .init(client: epoch(of: there), listener: epoch(of: back)))
  }

  /// Writes bytes to a stream. The bytes arrive in order, in chunks whose lengths the seed
  /// determines. Returns false if the stream is not open for writing.
  @discardableResult
  public mutating func write(_ bytes: [UInt8], to stream: VirtualStream) -> Bool {
    let side = stream.side.other
    guard isWritable(stream) else { return false }
    let link = streams[stream.number].link(toward: side)
    var start = 0
    while start < bytes.count {
      let length = min(bytes.count - start, links[link].drawChunkLength())
      let chunk = bytes[start..<start + length]
      enqueueBytes(chunk, stream.number, toward: side, coalesces: links[link].drawCoalescing())
      start += length
    }
    return true
  }

  /// Returns the local and the remote endpoint of a stream, as seen from the end that `stream`
  /// stands for.
  package func endpoints(of stream: VirtualStream) -> (local: Endpoint, peer: Endpoint) {
    let state = streams[stream.number]
    return stream.side == .client
      ? (state.source, state.destination) : (state.destination, state.source)
  }

  /// Returns the number of written bytes that wait at the sender, either for bandwidth or for the
  /// end of a cut or an outage. The network does not limit this queue. A writer should set its own
  /// limit, and pause when the limit is reached.
  public func unsentBytes(of stream: VirtualStream) -> Int {
    streams[stream.number][toward: stream.side.other].unsentBytes
  }

  /// Requests a single `drained` event, which is reported once all written bytes have left the
  /// sender.
  public mutating func notifyWhenDrained(_ stream: VirtualStream) {
    let side = stream.side.other
    streams[stream.number][toward: side].wantsDrained = true
    if streams[stream.number][toward: side].unsent.isEmpty {
      scheduleDrained(stream.number, toward: side)
    }
  }

  /// Finishes writing. The peer receives `end` after all written bytes, and may continue writing.
  public mutating func finish(_ stream: VirtualStream) {
    guard isWritable(stream) else { return }
    enqueue(.end, stream.number, toward: stream.side.other)
    streams[stream.number][toward: stream.side.other].isFinished = true
  }

  /// Finishes writing and stops reading. Bytes that arrive later are answered with a reset.
  public mutating func close(_ stream: VirtualStream) {
    finish(stream)
    streams[stream.number][toward: stream.side].isUnwanted = true
  }

  /// Resets the stream, so that the peer receives `reset`. An unanswered connection attempt is
  /// abandoned.
  public mutating func reset(_ stream: VirtualStream) {
    streams[stream.number][toward: stream.side].isDead = true
    guard streams[stream.number].isOpen, !streams[stream.number][toward: stream.side.other].isDead
    else { return }
    enqueue(.reset, stream.number, toward: stream.side.other)
    streams[stream.number][toward: stream.side.other].isFinished = true
  }

  /// Returns whether bytes can be written: the stream must be open, and this end must not have
  /// finished writing.
  public func isWritable(_ stream: VirtualStream) -> Bool {
    guard streams[stream.number].isOpen else { return false }
    let direction = streams[stream.number][toward: stream.side.other]
    return !direction.isFinished && !direction.isDead
  }
}
