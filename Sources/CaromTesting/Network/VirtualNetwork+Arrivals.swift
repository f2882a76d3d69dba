import CaromCore

extension VirtualNetwork {
  // MARK: Calls

  /// A call reaches the other machine, or does not.
  mutating func arriveCall(_ number: Int, attempt: Int) -> VirtualEvent? {
    guard !streams[number].toCaller.isDead else { return nil }
    guard let destination = reach(number) else { return repeatCall(number, attempt: attempt) }
    let machine = streams[number].machines.listener
    let listener = machines[machine].listeners.first { $0.port == destination.port }
    guard let listener else {
      timeline.insert(
        .refusal(stream: number), at: arrivalTime(of: 0, number, toward: .caller))
      return nil
    }
    streams[number].listener = listener.host
    machines[machine].streams.append(number)
    enqueue(.connected, number, toward: .caller)
    return nil
  }

  /// The endpoint that a call comes to; `nil` where there is only silence.
  private mutating func reach(_ number: Int) -> Endpoint? {
    let state = streams[number]
    let link = state.link(toward: .listener)
    guard state.machines.listener >= 0, obstacle(on: link) == nil,
      links[link].conditions.blackout?.end(at: now) == nil
    else { return nil }
    return inside(
      Endpoint(
        state.destination.address.scoped(to: state.interface), port: state.destination.port),
      by: state.interface, over: link)
  }

  private mutating func repeatCall(_ number: Int, attempt: Int) -> VirtualEvent? {
    guard attempt <= Self.maximumRepeats else {
      streams[number].toCaller.isDead = true
      return streams[number].end(number, .caller).map { .timedOut($0) }
    }
    let pause = Duration.seconds(1 << (attempt - 1))
    timeline.insert(.call(stream: number, attempt: attempt + 1), at: now + pause)
    return nil
  }

  mutating func arriveRefusal(_ number: Int) -> VirtualEvent? {
    let state = streams[number]
    guard !state.toCaller.isDead, !machines[state.machines.caller].isCrashed else { return nil }
    streams[number].toCaller.isDead = true
    return state.end(number, .caller).map { .refused($0) }
  }

  // MARK: Pieces

  /// The next piece toward one end: held while the way is cut or dark, else delivered.
  mutating func arrivePiece(_ number: Int, toward side: VirtualStream.Side) -> VirtualEvent? {
    let link = streams[number].link(toward: side)
    if obstacle(on: link) != nil {
      streams[number][toward: side].waiting += 1
      hold(number, toward: side)
      return nil
    }
    if let end = links[link].conditions.blackout?.end(at: now) {
      schedulePiece(of: number, toward: side, at: end)
      return nil
    }
    guard let piece = streams[number][toward: side].pieces.popFirst(),
      let end = streams[number].end(number, side), !streams[number][toward: side].isDead,
      !streams[number].isBroken
    else { return nil }
    if isForgotten(number) {
      breakStream(number, toward: side)
      return nil
    }
    return deliver(piece, to: end)
  }

  /// Whether a translator on the way has forgotten the stream.
  private func isForgotten(_ number: Int) -> Bool {
    let links = streams[number].links
    let epochs = StreamState.Epochs(
      caller: epoch(of: links.toListener), listener: epoch(of: links.toCaller))
    return streams[number].epochs != epochs
  }

  /// What the caller sends comes from a stranger then, and is answered with a reset; what comes
  /// from the listener reaches nobody.
  private mutating func breakStream(_ number: Int, toward side: VirtualStream.Side) {
    if side == .caller && streams[number].isOpen { return }
    streams[number].isBroken = true
    let due = arrivalTime(of: 0, number, toward: .caller)
    timeline.insert(.breakage(stream: number), at: due)
  }

  mutating func arriveBreakage(_ number: Int) -> VirtualEvent? {
    let state = streams[number]
    guard !state.toCaller.isDead, let end = state.end(number, .caller),
      !machines[state.machines.caller].isCrashed
    else { return nil }
    streams[number].toListener.isDead = true
    if !state.isOpen { return .timedOut(end) }
    return state.toCaller.isUnwanted ? nil : .reset(end)
  }

  private mutating func deliver(
    _ piece: StreamState.Piece, to end: VirtualStream
  ) -> VirtualEvent? {
    let isUnwanted = streams[end.number][toward: end.side].isUnwanted
    switch piece {
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
