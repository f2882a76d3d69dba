import CaromCore

/// How a stream's pieces come onto the link.
extension VirtualNetwork {
  /// The most bytes that come at once, as a receiver reads them.
  private static let maximumJoined = 65_536

  /// By chance the bytes join those in front of them, which then come as late as these.
  mutating func enqueueBytes(
    _ bytes: ArraySlice<UInt8>, _ number: Int, toward side: VirtualStream.Side, joins: Bool
  ) {
    guard joins, streams[number][toward: side].unsent.count == 0,
      case .bytes(let before)? = streams[number][toward: side].pieces.last,
      before.count + bytes.count <= Self.maximumJoined, isOpen(number, toward: side)
    else {
      enqueue(.bytes(Array(bytes)), number, toward: side)
      return
    }
    let newest = streams[number][toward: side].pieces.count - 1
    streams[number][toward: side].pieces[newest] = .bytes([])
    put(.bytes(before + bytes), of: bytes.count, number, toward: side)
  }

  /// Whether the link takes a piece now.
  private func isOpen(_ number: Int, toward side: VirtualStream.Side) -> Bool {
    let link = streams[number].link(toward: side)
    return obstacle(on: link) == nil && links[link].opening(at: now) <= now
  }

  mutating func enqueue(
    _ piece: StreamState.Piece, _ number: Int, toward side: VirtualStream.Side
  ) {
    streams[number][toward: side].unsent.append(piece)
    streams[number][toward: side].unsentBytes += piece.count
    if streams[number][toward: side].unsent.count == 1 { release(number, toward: side) }
  }

  /// Lets what waits at the sender onto the link as far as the link takes it.
  mutating func release(_ number: Int, toward side: VirtualStream.Side) {
    let link = streams[number].link(toward: side)
    guard !streams[number][toward: side].isReleasing else { return }
    var isFirst = true
    while streams[number][toward: side].unsent.count > 0 {
      guard obstacle(on: link) == nil else {
        hold(number, toward: side)
        return
      }
      let opening = links[link].opening(at: now)
      if opening > now {
        // Who had a turn comes after those of the same moment who had none.
        let turn = isFirst ? opening : opening.advanced(byNanoseconds: 1)
        streams[number][toward: side].isReleasing = true
        timeline.insert(.release(stream: number, toward: side), at: turn)
        return
      }
      depart(number, toward: side)
      isFirst = false
    }
    if streams[number][toward: side].wantsDrained { scheduleDrained(number, toward: side) }
  }

  private mutating func depart(_ number: Int, toward side: VirtualStream.Side) {
    guard let piece = streams[number][toward: side].unsent.popFirst() else { return }
    streams[number][toward: side].unsentBytes -= piece.count
    put(piece, of: piece.count, number, toward: side)
  }

  /// Puts a piece on the link, of which `count` bytes have not been there yet.
  private mutating func put(
    _ piece: StreamState.Piece, of count: Int, _ number: Int, toward side: VirtualStream.Side
  ) {
    let due = arrivalTime(of: count, number, toward: side)
    streams[number][toward: side].pieces.append(piece)
    schedulePiece(of: number, toward: side, at: due)
  }

  /// One piece more arrives, after all those before it.
  mutating func schedulePiece(
    of number: Int, toward side: VirtualStream.Side, at due: Instant
  ) {
    let time = max(due, streams[number][toward: side].lastDue)
    streams[number][toward: side].lastDue = time
    timeline.insert(.piece(stream: number, toward: side), at: time)
  }

  /// When so many bytes arrive that go onto the link now.
  mutating func arrivalTime(
    of count: Int, _ number: Int, toward side: VirtualStream.Side
  ) -> Instant {
    let isV6 = streams[number].destination.address.isV6
    let length = WireLength.segments(payload: count, isV6: isV6)
    return links[streams[number].link(toward: side)].sendPiece(of: length, at: now)
  }

  mutating func scheduleDrained(_ number: Int, toward side: VirtualStream.Side) {
    guard let writer = streams[number].end(number, side.other) else { return }
    timeline.insert(.drained(writer), at: now)
  }

  mutating func arriveDrained(_ stream: VirtualStream) -> VirtualEvent? {
    let side = stream.side.other
    guard streams[stream.number][toward: side].wantsDrained,
      streams[stream.number][toward: side].unsent.count == 0, isWritable(stream)
    else { return nil }
    streams[stream.number][toward: side].wantsDrained = false
    return .drained(stream)
  }

  // MARK: Cuts

  /// Goes on when the cut is over.
  mutating func hold(_ number: Int, toward side: VirtualStream.Side) {
    guard !streams[number][toward: side].isHeld else { return }
    streams[number][toward: side].isHeld = true
    heldStreams.append(.init(stream: number, side: side))
  }

  /// Sends again what waited for the cable.
  mutating func resumeStreams() {
    let held = heldStreams
    heldStreams = []
    for way in held {
      guard obstacle(on: streams[way.stream].link(toward: way.side)) == nil else {
        heldStreams.append(way)
        continue
      }
      streams[way.stream][toward: way.side].isHeld = false
      for _ in 0..<streams[way.stream][toward: way.side].waiting {
        let due = arrivalTime(of: 0, way.stream, toward: way.side)
        schedulePiece(of: way.stream, toward: way.side, at: due)
      }
      streams[way.stream][toward: way.side].waiting = 0
      release(way.stream, toward: way.side)
    }
  }
}
