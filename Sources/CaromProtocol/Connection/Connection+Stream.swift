import CaromCodec
import CaromCore

// MARK: - Adding and moving a stream
extension Connection {
  /// Adds a stream that this side has opened to the peer. Requests a seat on the stream or, if the
  /// connection is open, joins the stream to it. Returns `false` if the connection is ending or
  /// already has a stream.
  @discardableResult
  package mutating func addStream(at now: Instant) -> Bool {
    guard !isEnding, stream == nil else { return false }
    var path = StreamPath(limit: StreamPath.frameLimit)
    path.handshake = makeKnownStreamHandshake() ?? makeHandshake(of: .none)
    setStream(path)
    if let handshake = path.handshake {
      sendHandshake(handshake)
    } else {
      sendOpening()
    }
    return true
  }

  /// Handles the failure to open a stream by shortening the time limit for an answer over
  /// datagrams. A host would answer a datagram about as quickly as it refuses a stream, so the new
  /// limit is the time that the failure took, but at least `datagramGrace`. The failure's duration
  /// includes the resolution of the neighbor's link-layer address, which may take seconds and would
  /// delay a datagram as well.
  mutating func handleStreamFailed(at now: Instant) {
    guard case .awaitingGrant(let deadline) = state, datagram?.hasFoundPeer != true else { return }
    let grace = max(Self.datagramGrace, local.timing.handshakeLimit - (deadline - now))
    state = .awaitingGrant(deadline: min(deadline, now.advanced(by: grace)))
  }

  /// Takes over the stream of another `Connection` value that turned out to have the same key.
  /// `info` describes the peer if it requested a seat on the stream, and is nil if the peer only
  /// joined the stream to the connection.
  mutating func adoptStream(_ path: StreamPath, of info: PeerInfo?, at now: Instant) {
    if stream != nil { dropStream() }
    setStream(path)
    recordSignOfLife(at: now)
    switch state {
    case .open: send(.grant(version: SessionWire.version, local.peer), on: .stream, at: now)
    case .awaitingRequest: if let info { handleRequest(of: info, at: now) }
    default: break
    }
  }

  /// Removes and returns the stream, including its unprocessed bytes, so that another connection
  /// can adopt it. Returns nil if the connection has no stream.
  mutating func removeStream() -> StreamPath? {
    defer { setStream(nil) }
    return stream
  }
}

// MARK: - Receiving
extension Connection {
  /// Whether bytes that arrive on the stream are still processed. They are until the connection
  /// ends, and after that only while the goodbye waits for credit and acknowledgements.
  private var readsStream: Bool {
    stream != nil && (!isEnding || goodbye != nil) && attempt != .wrong
  }

  /// Handles bytes from the stream. A packet may be split between calls at any byte.
  mutating func receive(
    _ bytes: Span<UInt8>, _ scratch: inout Scratch, at now: Instant
  ) {
    guard readsStream else { return }
    if !isEnding, local.security == nil { recordSignOfLife(at: now) }
    var offset = 0
    do throws(FrameError) {
      while readsStream, let body = try stream?.next(in: bytes, from: &offset, at: now) {
        switch body {
        case .chunk(let range): open(bytes.extracting(range), &scratch, at: now)
        case .copy(let body): open(body.span, &scratch, at: now)
        }
      }
    } catch { closeForStreamError(error, at: now) }
    processChannels(at: now)
  }

  /// Ends the stream, which can no longer be read because of `error`. On an open encrypted
  /// connection, only the stream is cut; any other connection is closed. The connection is closed
  /// as timed out if the peer stopped in the middle of a frame, and otherwise because of a
  /// violation of the protocol.
  mutating func closeForStreamError(_ error: FrameError, at now: Instant) {
    guard local.security == nil || !isOpen else { return cutStream(at: now) }
    guard case .bodyTimeout = error else { return closeForViolation(at: now) }
    close(Goodbye(.timedOut), as: isOpen ? .timedOut : .handshakeTimeout, at: now)
  }

  /// Decrypts the body of a stream frame if the stream has keys, and handles it.
  private mutating func open(_ body: Span<UInt8>, _ scratch: inout Scratch, at now: Instant) {
    guard stream?.keys != nil else { return receive(body: body, &scratch, at: now) }
    var opened: [UInt8] = []
    swap(&opened, &scratch.body)
    if stream?.open(body, into: &opened) == true {
      if !isEnding { recordSignOfLife(at: now) }
      receive(body: opened.span, &scratch, at: now)
    } else if let goodbye = findRefusal(in: body) {
      receive(.goodbye(goodbye), on: .stream, at: now)
    } else {
      cutStream(at: now)
    }
    swap(&opened, &scratch.body)
  }

  private mutating func receive(
    body: Span<UInt8>, _ scratch: inout Scratch, at now: Instant
  ) {
    guard let header = try? PacketHeader(of: body) else { return handleViolation(at: now) }
    do throws(DecodeError) {
      switch header.type {
      case SessionWire.controlType:
        guard let control = try ControlPacket(try Packet(decoding: body)) else {
          return unknownPackets += 1
        }
        guard stream?.keys != nil || allowsUnsealed(control) else {
          return closeForUnsealed(control, at: now)
        }
        receive(control, on: .stream, at: now)
      case SessionWire.carrierType:
        guard stream?.isJoined == true else { throw .invalid(what: "message before the grant") }
        guard header.action == 0 else { throw .invalid(what: "action of a carrier") }
        let frames = body.extracting(Packet.headerLength..<body.count)
        try receiveCarrier(frames, &scratch, at: now)
      default: unknownPackets += 1
      }
    } catch { handleViolation(at: now) }
  }

  /// Handles the frames of a carrier. After the end of the connection, messages are ignored, and
  /// the carrier is not acknowledged.
  private mutating func receiveCarrier(
    _ bytes: Span<UInt8>, _ scratch: inout Scratch, at now: Instant
  ) throws(DecodeError) {
    var isAckEliciting = false
    var reader = FrameReader(bytes)
    scratch.outcome.removeAll()
    while let frame = try reader.next(ranges: &scratch.ranges) {
      if frame.isAckEliciting { isAckEliciting = true }
      switch frame {
      case .message(let message): if !isEnding { try channels.receive(message) }
      case .credit(let channel, let limit): channels.handleCredit(channel: channel, limit: limit)
      case .acknowledgement:
        guard let largest = scratch.ranges.largest,
          stream?.handleAcknowledgement(largest, acknowledged: &scratch.outcome.acknowledged)
            == true
        else { throw .invalid(what: "acknowledgement of a carrier that was never sent") }
      case .ping, .padding: break
      }
    }
    applyOutcome(scratch.outcome, at: now)
    guard !isEnding else { return }
    stream?.didReceive(bytes: bytes.count, isAckEliciting: isAckEliciting, at: now)
    if datagram == nil, let roundTrip = pinger.roundTrip.smoothed, now >= nextWindowGrowth {
      channels.growWindows(roundTrip: roundTrip.wholeNanoseconds, at: now)
      nextWindowGrowth = now.advanced(by: roundTrip)
    }
  }
}

// MARK: - Sending
extension Connection {
  /// Returns whether `pollStream` or `pollLinkAction` returns output, now or once the stream has
  /// space again. The method is mutating so that the connection is accessed in place.
  mutating func findStreamOutput() -> Bool {
    guard attempt == .none else { return false }
    return linkAction != nil
      || hasStream && (stream?.hasControl == true || stream?.isAcknowledgementDue == true)
      || channels.hasPending && findLink() == .stream
  }

  /// Returns whether the stream has to be polled. Most connections over datagrams have an idle
  /// stream beside them. While a connection is ending, polling its stream may be what ends it.
  mutating func needsStreamPoll() -> Bool {
    linkAction != nil || hasStream && (isEnding || findStreamOutput())
  }

  /// Passes to `write` the bytes to write to the stream, whose send queue holds `queued` bytes.
  /// Returns `false` if there is nothing to write now.
  mutating func pollStream(
    queued: Int, _ scratch: inout Scratch, at now: Instant, _ write: (Span<UInt8>) -> Void
  ) -> Bool {
    guard hasStream, attempt == .none else { return false }
    let carriesMessages = findLink() == .stream
    let hasBytes =
      stream?.pollTransmit(
        queued: queued, &channels, carriesMessages: carriesMessages, &scratch, at: now) == true
    if hasBytes { write(scratch.writer.span) }
    sendGoodbyeWhenDrained(at: now)
    if case .closing = state, goodbye == nil, stream?.hasControl == false, linkAction == nil {
      linkAction = .closeAfterFlush
    }
    return hasBytes
  }

  /// Removes and returns the action to perform on the stream, or nil if there is none. After an
  /// action, the stream no longer belongs to the connection.
  package mutating func pollLinkAction() -> LinkAction? {
    guard let action = linkAction else { return nil }
    linkAction = nil
    setStream(nil)
    if case .closing = state, datagram?.isOpen != true { state = .closed }
    closeWhenGoodbyeAcknowledged()
    return action
  }
}
