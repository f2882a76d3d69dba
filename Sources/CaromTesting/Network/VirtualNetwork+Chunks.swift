import CaromCore

/// Methods that send the chunks of streams.
extension VirtualNetwork {
  /// The maximum length of a coalesced chunk, in bytes.
  private static let maximumCoalesced = 65_536

  /// Sends or queues bytes of a stream. If `coalesces` is true and the link accepts the bytes now,
  /// appends them to the last chunk in flight. The whole chunk then arrives when the new bytes do.
  mutating func enqueueBytes(
    _ bytes: ArraySlice<UInt8>, _ number: Int, toward side: VirtualStream.Side, coalesces: Bool
  ) {
    guard coalesces, streams[number][toward: side].unsent.isEmpty,
      case .bytes(let before)? = streams[number][toward: side].inFlight.last,
      before.count + bytes.count <= Self.maximumCoalesced, canSend(number, toward: side)
    else {
      enqueue(.bytes(Array(bytes)), number, toward: side)
      return
    }
    let last = streams[number][toward: side].inFlight.count - 1
    streams[number][toward: side].inFlight[last] = .bytes([])
    send(.bytes(before + bytes), of: bytes.count, number, toward: side)
  }

  /// Returns whether the link accepts a chunk of the stream now.
  private func canSend(_ number: Int, toward side: VirtualStream.Side) -> Bool {
    let link = streams[number].link(toward: side)
    return obstacle(on: link) == nil && links[link].nextSendTime(at: now) <= now
  }

  /// Queues a chunk at the sender, and sends it if the link accepts it.
  mutating func enqueue(
    _ chunk: StreamState.Chunk, _ number: Int, toward side: VirtualStream.Side
  ) {
    streams[number][toward: side].unsent.append(chunk)
    streams[number][toward: side].unsentBytes += chunk.count
    if streams[number][toward: side].unsent.count == 1 { sendChunks(of: number, toward: side) }
  }

  /// Sends queued chunks while the link accepts them, then schedules the next attempt.
  mutating func sendChunks(of number: Int, toward side: VirtualStream.Side) {
    let link = streams[number].link(toward: side)
    guard !streams[number][toward: side].isReleasing else { return }
    var isFirst = true
    while !streams[number][toward: side].unsent.isEmpty {
      guard obstacle(on: link) == nil else {
        hold(number, toward: side)
        return
      }
      let next = links[link].nextSendTime(at: now)
      if next > now {
        // A stream that has just sent yields to other streams that wait for the same time.
        let turn = isFirst ? next : next.advanced(byNanoseconds: 1)
        streams[number][toward: side].isReleasing = true
        timeline.insert(.release(stream: number, toward: side), at: turn)
        return
      }
      sendFirstChunk(of: number, toward: side)
      isFirst = false
    }
    if streams[number][toward: side].wantsDrained { scheduleDrained(number, toward: side) }
  }

  private mutating func sendFirstChunk(of number: Int, toward side: VirtualStream.Side) {
    guard let chunk = streams[number][toward: side].unsent.popFirst() else { return }
    streams[number][toward: side].unsentBytes -= chunk.count
    send(chunk, of: chunk.count, number, toward: side)
  }

  /// Sends a chunk over the link. `count` is the number of bytes in the chunk that are sent for the
  /// first time.
  private mutating func send(
    _ chunk: StreamState.Chunk, of count: Int, _ number: Int, toward side: VirtualStream.Side
  ) {
    let due = arrivalTime(of: count, number, toward: side)
    streams[number][toward: side].inFlight.append(chunk)
    scheduleChunk(of: number, toward: side, at: due)
  }

  /// Schedules the arrival of a chunk at `due`, but no earlier than the arrival of the chunk sent
  /// before it.
  mutating func scheduleChunk(
    of number: Int, toward side: VirtualStream.Side, at due: Instant
  ) {
    let time = max(due, streams[number][toward: side].lastArrival)
    streams[number][toward: side].lastArrival = time
    timeline.insert(.chunk(stream: number, toward: side), at: time)
  }

  /// Sends `count` bytes over the link, and returns the time of their arrival.
  mutating func arrivalTime(
    of count: Int, _ number: Int, toward side: VirtualStream.Side
  ) -> Instant {
    let isV6 = streams[number].destination.address.isV6
    let length = WireLength.segments(payload: count, isV6: isV6)
    return links[streams[number].link(toward: side)].sendChunk(of: length, at: now)
  }

  mutating func scheduleDrained(_ number: Int, toward side: VirtualStream.Side) {
    guard let writer = streams[number].end(number, side.other) else { return }
    timeline.insert(.drained(writer), at: now)
  }

  mutating func handleDrained(_ stream: VirtualStream) -> VirtualEvent? {
    let side = stream.side.other
    guard streams[stream.number][toward: side].wantsDrained,
      streams[stream.number][toward: side].unsent.isEmpty, isWritable(stream)
    else { return nil }
    streams[stream.number][toward: side].wantsDrained = false
    return .drained(stream)
  }

  // MARK: Cuts

  /// Marks one direction of a stream to be resumed after a cut.
  mutating func hold(_ number: Int, toward side: VirtualStream.Side) {
    guard !streams[number][toward: side].isHeld else { return }
    streams[number][toward: side].isHeld = true
    heldStreams.append(.init(stream: number, side: side))
  }

  /// Resumes all streams whose links are no longer cut.
  mutating func resumeStreams() {
    let keys = heldStreams
    heldStreams = []
    for key in keys {
      guard obstacle(on: streams[key.stream].link(toward: key.side)) == nil else {
        heldStreams.append(key)
        continue
      }
      streams[key.stream][toward: key.side].isHeld = false
      for _ in 0..<streams[key.stream][toward: key.side].held {
        let due = arrivalTime(of: 0, key.stream, toward: key.side)
        scheduleChunk(of: key.stream, toward: key.side, at: due)
      }
      streams[key.stream][toward: key.side].held = 0
      sendChunks(of: key.stream, toward: key.side)
    }
  }
}
