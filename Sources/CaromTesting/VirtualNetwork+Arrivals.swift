import CaromCore

extension VirtualNetwork {
  /// A call reaches the other machine, or does not.
  mutating func arriveCall(_ number: Int, attempt: Int) -> VirtualEvent? {
    let state = streams[number]
    guard !state.toCaller.isDead else { return nil }
    let isSilent =
      state.machines.listener < 0
      || isCut(from: state.machines.caller, to: state.machines.listener)
    if isSilent { return repeatCall(number, attempt: attempt) }
    let listener = machines[state.machines.listener].listeners.first {
      $0.port == state.destination.port
    }
    guard let listener else {
      let delay = streamDelay(of: number, toward: .caller)
      timeline.schedule(.refusal(stream: number), at: now + delay)
      return nil
    }
    streams[number].listener = listener.host
    enqueue(.connected, number, toward: .caller)
    return nil
  }

  private mutating func repeatCall(_ number: Int, attempt: Int) -> VirtualEvent? {
    guard attempt <= Self.maximumRepeats else {
      streams[number].toCaller.isDead = true
      return streams[number].end(number, .caller).map { .timedOut($0) }
    }
    let pause = Duration.seconds(1 << (attempt - 1))
    timeline.schedule(.call(stream: number, attempt: attempt + 1), at: now + pause)
    return nil
  }

  mutating func arriveRefusal(_ number: Int) -> VirtualEvent? {
    let state = streams[number]
    guard !state.toCaller.isDead, !machines[state.machines.caller].isCrashed else { return nil }
    streams[number].toCaller.isDead = true
    return state.end(number, .caller).map { .refused($0) }
  }

  /// The next piece toward one end: held while the way is cut, else delivered.
  mutating func arrivePiece(_ number: Int, toward side: VirtualStream.Side) -> VirtualEvent? {
    if isCut(from: streams[number].machine(side.other), to: streams[number].machine(side)) {
      streams[number][toward: side].waiting += 1
      return nil
    }
    guard let piece = streams[number][toward: side].pieces.removeFirst(),
      let end = streams[number].end(number, side), !streams[number][toward: side].isDead
    else { return nil }
    return deliver(piece, to: end)
  }

  private mutating func deliver(
    _ piece: StreamState.Piece, to end: VirtualStream
  ) -> VirtualEvent? {
    switch piece {
    case .connected:
      streams[end.number].isOpen = true
      enqueue(.accepted, end.number, toward: .listener)
      return .connected(end)
    case .accepted:
      if streams[end.number][toward: end.side].isUnwanted {
        reset(end)
        return nil
      }
      let state = streams[end.number]
      return .accepted(end, from: state.source, port: state.destination.port)
    case .bytes(let bytes):
      guard !bytes.isEmpty else { return nil }
      if streams[end.number][toward: end.side].isUnwanted {
        reset(end)
        return nil
      }
      counters.streamBytesDelivered += bytes.count
      return .bytes(bytes, end)
    case .end:
      return streams[end.number][toward: end.side].isUnwanted ? nil : .end(end)
    case .reset:
      let wasUnwanted = streams[end.number][toward: end.side].isUnwanted
      streams[end.number][toward: end.side].isDead = true
      streams[end.number][toward: end.side.other].isDead = true
      return wasUnwanted ? nil : .reset(end)
    }
  }

  /// Sends again what waited for the cable.
  mutating func resumeStreams() {
    for number in streams.indices {
      for side in [VirtualStream.Side.caller, .listener] {
        for _ in 0..<streams[number][toward: side].waiting {
          let due = now + streamDelay(of: number, toward: side)
          let time = max(due, streams[number][toward: side].lastDue)
          streams[number][toward: side].lastDue = time
          timeline.schedule(.piece(stream: number, toward: side), at: time)
        }
        streams[number][toward: side].waiting = 0
      }
    }
  }
}
