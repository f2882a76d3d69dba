import CaromCore

extension VirtualNetwork {
  // MARK: Connecting

  /// Handles the arrival of a connection request: the listener's machine accepts or refuses it. If
  /// that machine cannot be reached, the client repeats the request. Returns the event to report to
  /// a host, or nil if there is no event.
  mutating func handleConnect(_ number: Int, attempt: Int) -> VirtualEvent? {
    guard !streams[number].toClient.isDead else { return nil }
    guard let destination = reachableDestination(of: number) else {
      return repeatConnect(number, attempt: attempt)
    }
    let machine = streams[number].machines.listener
    let listener = machines[machine].listeners.first { $0.port == destination.port }
    guard let listener else {
      timeline.insert(
        .refusal(stream: number), at: arrivalTime(of: 0, number, toward: .client))
      return nil
    }
    streams[number].listener = listener.host
    machines[machine].streams.append(number)
    enqueue(.connected, number, toward: .client)
    return nil
  }

  /// Returns the listener's endpoint to which a connection request is delivered, or nil if the
  /// request cannot be delivered.
  private mutating func reachableDestination(of number: Int) -> Endpoint? {
    let state = streams[number]
    let link = state.link(toward: .listener)
    guard state.machines.listener >= 0, obstacle(on: link) == nil,
      links[link].conditions.outage?.end(at: now) == nil
    else { return nil }
    return internalEndpoint(
      Endpoint(
        state.destination.address.scoped(to: state.interface), port: state.destination.port),
      by: state.interface, over: link)
  }

  private mutating func repeatConnect(_ number: Int, attempt: Int) -> VirtualEvent? {
    guard attempt <= Self.maximumRepeats else {
      streams[number].toClient.isDead = true
      return streams[number].end(number, .client).map { .timedOut($0) }
    }
    let pause = Duration.seconds(1 << (attempt - 1))
    timeline.insert(.connect(stream: number, attempt: attempt + 1), at: now + pause)
    return nil
  }

  mutating func handleRefusal(_ number: Int) -> VirtualEvent? {
    let state = streams[number]
    guard !state.toClient.isDead, !machines[state.machines.client].isCrashed else { return nil }
    streams[number].toClient.isDead = true
    return state.end(number, .client).map { .refused($0) }
  }

  // MARK: Chunks

  /// Handles the arrival of the next chunk of a stream: delivers the chunk, or delays it during a
  /// cut or an outage. Returns the event to report to a host, or nil if there is no event.
  mutating func handleChunk(_ number: Int, toward side: VirtualStream.Side) -> VirtualEvent? {
    let link = streams[number].link(toward: side)
    if obstacle(on: link) != nil {
      streams[number][toward: side].held += 1
      hold(number, toward: side)
      return nil
    }
    if let end = links[link].conditions.outage?.end(at: now) {
      scheduleChunk(of: number, toward: side, at: end)
      return nil
    }
    guard let chunk = streams[number][toward: side].inFlight.popFirst(),
      let end = streams[number].end(number, side), !streams[number][toward: side].isDead,
      !streams[number].isBroken
    else { return nil }
    if isForgotten(number) {
      breakStream(number, toward: side)
      return nil
    }
    return deliver(chunk, to: end)
  }

  /// Returns whether a NAT on the path has forgotten the stream.
  private func isForgotten(_ number: Int) -> Bool {
    let links = streams[number].links
    let epochs = StreamState.Epochs(
      client: epoch(of: links.toListener), listener: epoch(of: links.toClient))
    return streams[number].epochs != epochs
  }

  /// Handles a chunk of a stream that a NAT has forgotten. A chunk from the client is answered with
  /// a reset, because the NAT now gives it a source that the listener does not know. A chunk from a
  /// listener that has accepted the stream is lost.
  private mutating func breakStream(_ number: Int, toward side: VirtualStream.Side) {
    if side == .client && streams[number].isOpen { return }
    streams[number].isBroken = true
    let due = arrivalTime(of: 0, number, toward: .client)
    timeline.insert(.breakage(stream: number), at: due)
  }

  mutating func handleBreakage(_ number: Int) -> VirtualEvent? {
    let state = streams[number]
    guard !state.toClient.isDead, let end = state.end(number, .client),
      !machines[state.machines.client].isCrashed
    else { return nil }
    streams[number].toListener.isDead = true
    if !state.isOpen { return .timedOut(end) }
    return state.toClient.isUnwanted ? nil : .reset(end)
  }

  private mutating func deliver(
    _ chunk: StreamState.Chunk, to end: VirtualStream
  ) -> VirtualEvent? {
    let isUnwanted = streams[end.number][toward: end.side].isUnwanted
    switch chunk {
    case .connected:
      streams[end.number].isOpen = true
      enqueue(.accepted, end.number, toward: .listener)
      return .connected(end)
    case .accepted:
      if isUnwanted { return answerWithReset(end) }
      let state = streams[end.number]
      return .accepted(end, from: state.source, port: state.destination.port)
    case .bytes(let bytes):
      guard !bytes.isEmpty else { return nil }
      if isUnwanted { return answerWithReset(end) }
      counters.streamBytesDelivered += bytes.count
      return .bytes(bytes, end)
    case .end: return isUnwanted ? nil : .end(end)
    case .reset:
      streams[end.number][toward: end.side].isDead = true
      streams[end.number][toward: end.side.other].isDead = true
      return isUnwanted ? nil : .reset(end)
    }
  }

  private mutating func answerWithReset(_ end: VirtualStream) -> VirtualEvent? {
    reset(end)
    return nil
  }
}
