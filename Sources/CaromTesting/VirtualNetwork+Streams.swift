import CaromCore

extension VirtualNetwork {
  /// How often a call is repeated that nobody answers: after 1, 2, 4 … 64 s, as Linux does.
  static let maximumRepeats = 7

  /// Accepts streams on a port; 0 is a free one. `nil` where the port is taken.
  @discardableResult
  public mutating func listen(_ host: VirtualHost, port: UInt16 = 0) -> UInt16? {
    let taken = machines[host.machine].listeners.contains { $0.port == port }
    guard !taken else { return nil }
    let chosen = port == 0 ? freePort(of: host.machine) : port
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
    let route = route(from: host, to: destination.address)
    let card = route?.from ?? host.interfaces[0]
    let address =
      destination.address.isLoopback
      ? destination.address : destination.address.isV6 ? card.v6 : card.v4
    let source = Endpoint(address, port: freePort(of: host.machine))
    let number = streams.count
    streams.append(
      StreamState(
        caller: host.id, source: source, destination: destination,
        machines: (host.machine, route?.machine ?? -1)))
    let delay = route == nil ? .zero : streamDelay(of: number, toward: .listener)
    timeline.schedule(.call(stream: number, attempt: 1), at: now + delay)
    return VirtualStream(host: host.id, number: number, side: .caller)
  }

  /// Sends bytes; they come in order, in pieces that the seed chooses.
  /// False where the stream is not open for writing.
  @discardableResult
  public mutating func write(_ bytes: [UInt8], to stream: VirtualStream) -> Bool {
    let side = stream.side.other
    guard isWritable(stream) else { return false }
    let way = conditions(ofStream: stream.number, toward: side)
    var start = 0
    while start < bytes.count {
      let length = min(
        bytes.count - start, Int.random(in: way.pieceLength, using: &generator))
      enqueueBytes(bytes[start..<start + length], stream.number, toward: side, joining: way.joining)
      start += length
    }
    return true
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

  /// The most times that one piece is lost.
  private static let maximumLosses = 10

  /// Draws the delay of one piece, with what its losses cost.
  mutating func streamDelay(of number: Int, toward side: VirtualStream.Side) -> Duration {
    let way = conditions(ofStream: number, toward: side)
    var losses = 0
    while losses < Self.maximumLosses, generator.chance(way.loss) { losses += 1 }
    return generator.duration(in: way.delay) + way.retransmission * losses
  }

  private func conditions(
    ofStream number: Int, toward side: VirtualStream.Side
  ) -> LinkConditions {
    conditions(
      from: streams[number].machine(side.other), to: streams[number].machine(side))
  }

  /// Whether `write` takes bytes: the stream is open and this end did not finish.
  public func isWritable(_ stream: VirtualStream) -> Bool {
    guard streams[stream.number].isOpen else { return false }
    let direction = streams[stream.number][toward: stream.side.other]
    return !direction.isFinished && !direction.isDead
  }

  /// By chance the bytes join those in front of them, which then come as late as these.
  private mutating func enqueueBytes(
    _ bytes: ArraySlice<UInt8>, _ number: Int, toward side: VirtualStream.Side, joining: Double
  ) {
    if generator.chance(joining),
      case .bytes(let before)? = streams[number][toward: side].pieces.last,
      before.count + bytes.count <= Self.maximumJoined
    {
      streams[number][toward: side].pieces.last = .bytes([])
      enqueue(.bytes(before + bytes), number, toward: side)
    } else {
      enqueue(.bytes(Array(bytes)), number, toward: side)
    }
  }

  /// The most bytes that come at once, as a receiver reads them.
  private static let maximumJoined = 65_536

  mutating func enqueue(
    _ piece: StreamState.Piece, _ number: Int, toward side: VirtualStream.Side
  ) {
    let due = now + streamDelay(of: number, toward: side)
    let time = max(due, streams[number][toward: side].lastDue)
    streams[number][toward: side].lastDue = time
    streams[number][toward: side].pieces.append(piece)
    timeline.schedule(.piece(stream: number, toward: side), at: time)
  }
}
