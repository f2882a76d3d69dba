import CaromCore

/// Finds the frames in a stream: bytes in, in chunks of any size, and whole bodies out.
///
/// A frame is a header of eight bytes, the body's length without the header, and the body; length 0
/// is a frame. The limit is checked before room is made for a body, and each byte of a body is
/// copied once, from the chunk it came in to the array that `next()` gives away. A header may take
/// for ever, since an idle link is inside one; a body has one deadline for all of it.
///
/// After an error the decoder stays failed: it ignores what it receives and throws the same again.
public struct FrameDecoder: Sendable {
  /// The largest body accepted unless told otherwise, bytes: 1 MiB.
  public static let defaultLimit = 1 << 20
  /// How long a body may take unless told otherwise.
  public static let defaultBodyTimeout = Duration.seconds(30)

  /// The most room made for a body before its bytes come, so that a limit without end can be set
  /// for files: 64 MiB. A longer body grows as it comes.
  private static let maximumReserve = 64 << 20

  private enum State {
    case header(value: UInt64, count: Int)
    case body(bytes: [UInt8], want: Int, deadline: Instant)
    case failed(FrameError)
  }

  /// The largest body accepted, bytes; a change counts from the next header on.
  public var limit: Int {
    didSet { precondition(limit >= 0, "a limit is a count of bytes, 0 or more") }
  }
  /// The order of the header's bytes.
  public let byteOrder: ByteOrder
  /// How long a body may take from its header's last byte to its own.
  public let bodyTimeout: Duration

  private var state = State.header(value: 0, count: 0)
  private var ready = Deque<[UInt8]>()

  /// A decoder at the beginning of a stream.
  public init(
    limit: Int = defaultLimit, byteOrder: ByteOrder = .little,
    bodyTimeout: Duration = defaultBodyTimeout
  ) {
    precondition(limit >= 0, "a limit is a count of bytes, 0 or more")
    self.limit = limit
    self.byteOrder = byteOrder
    self.bodyTimeout = bodyTimeout
  }

  /// Takes the next bytes of the stream; drain `next()` after it.
  public mutating func receive(_ bytes: Span<UInt8>, at now: Instant) {
    failIfLate(at: now)
    var offset = 0
    while offset < bytes.count {
      let rest = bytes.extracting(offset..<bytes.count)
      switch state {
      case .header(let value, let count):
        offset += receiveHeader(rest, value: value, count: count, at: now)
      case .body(let body, let want, let deadline):
        state = .header(value: 0, count: 0)  // else `body` would have two owners, and be copied
        offset += receiveBody(rest, after: body, want: want, deadline: deadline)
      case .failed: return
      }
    }
  }

  /// The next whole body; `nil` means that more bytes are needed.
  /// Bodies that came before an error are given out before it is thrown.
  public mutating func next() throws(FrameError) -> [UInt8]? {
    if let body = ready.popFirst() { return body }
    if case .failed(let error) = state { throw error }
    return nil
  }

  /// The stream ended: between two frames all is well, inside one it is `unexpectedEOF`.
  public mutating func finish() throws(FrameError) {
    switch state {
    case .header(_, 0): return
    case .header(_, let count): state = .failed(.unexpectedEOF(got: count, want: 8))
    case .body(let body, let want, _):
      state = .failed(.unexpectedEOF(got: body.count, want: want))
    case .failed: break
    }
    if case .failed(let error) = state { throw error }
  }

  /// The deadline of the body under way, or `nil` between bodies.
  public var nextTimeout: Instant? {
    if case .body(_, _, let deadline) = state { deadline } else { nil }
  }

  /// Throws `bodyTimeout` if the body under way is late, and whatever failed before.
  public mutating func handleTimeout(at now: Instant) throws(FrameError) {
    failIfLate(at: now)
    if case .failed(let error) = state { throw error }
  }

  private mutating func failIfLate(at now: Instant) {
    guard case .body(let body, let want, let deadline) = state, now >= deadline else { return }
    state = .failed(.bodyTimeout(got: body.count, want: want))
  }

  /// Takes what the header still needs and says how many bytes that was.
  private mutating func receiveHeader(
    _ bytes: Span<UInt8>, value: UInt64, count: Int, at now: Instant
  ) -> Int {
    let taken = min(bytes.count, 8 - count)
    var length = value
    for index in 0..<taken {
      let place = byteOrder == .little ? count + index : 7 - count - index
      length |= UInt64(bytes[index]) << UInt64(8 * place)
    }
    if count + taken < 8 {
      state = .header(value: length, count: count + taken)
    } else if length > UInt64(limit) {
      state = .failed(.frameTooLarge(length: length, limit: limit))
    } else {
      beginBody(of: Int(length), with: bytes.count - taken, at: now)
    }
    return taken
  }

  /// An empty body is ready at once; for another there is nothing to reserve if all of it is here.
  private mutating func beginBody(of length: Int, with available: Int, at now: Instant) {
    if length == 0 {
      state = .header(value: 0, count: 0)
      ready.append([])
      return
    }
    var body: [UInt8] = []
    var deadline = Instant.distantFuture  // nothing is waited for where all of it is here
    if available < length {
      body.reserveCapacity(min(length, Self.maximumReserve))
      deadline = now + bodyTimeout
    }
    state = .body(bytes: body, want: length, deadline: deadline)
  }

  /// Takes what the body still needs and says how many bytes that was.
  private mutating func receiveBody(
    _ bytes: Span<UInt8>, after before: consuming [UInt8], want: Int, deadline: Instant
  ) -> Int {
    var body = before
    let taken = min(bytes.count, want - body.count)
    body.append(copying: bytes.extracting(0..<taken))
    if body.count == want {
      ready.append(body)
    } else {
      state = .body(bytes: body, want: want, deadline: deadline)
    }
    return taken
  }
}
