import CaromCore

/// Splits a byte stream, received in chunks of any size, into length-prefixed frames.
///
/// A frame is an eight-byte header with the length of the body, followed by the body, which may be
/// empty. The length is checked against `limit` before memory is allocated. Each byte of a body is
/// copied at most once. Waiting for a header has no timeout, since an idle stream is always waiting
/// for one; a body must be complete within `bodyTimeout`.
///
/// After an error the decoder ignores further input and throws the same error again.
public struct FrameDecoder: Sendable {
  /// The default value of `limit`: 1 MiB.
  public static let defaultLimit = 1 << 20
  /// The default value of `bodyTimeout`: 30 seconds.
  public static let defaultBodyTimeout = Duration.seconds(30)

  /// The maximum capacity reserved for a body before it arrives: 64 MiB. The array of a longer body
  /// grows as data arrives, so that even with a large `limit`, a peer cannot claim more memory
  /// merely by sending a header.
  private static let maximumReserve = 64 << 20

  private enum State {
    case header(value: UInt64, count: Int)
    case body(bytes: [UInt8], want: Int, deadline: Instant)
    case failed(FrameError)
  }

  /// The maximum length of a body, in bytes. A change takes effect at the next header.
  public var limit: Int {
    didSet { precondition(limit >= 0, "limit is a number of bytes and must not be negative") }
  }
  /// The byte order of the header.
  public let byteOrder: ByteOrder
  /// The time allowed from the last byte of a header to the last byte of its body.
  public let bodyTimeout: Duration

  private var state = State.header(value: 0, count: 0)
  /// The complete bodies that `next()` has not returned yet. If the caller drains the queue after
  /// each chunk, it holds at most the bodies of one chunk.
  private var ready = Deque<[UInt8]>()

  /// Creates a decoder for the start of a stream.
  public init(
    limit: Int = defaultLimit, byteOrder: ByteOrder = .little,
    bodyTimeout: Duration = defaultBodyTimeout
  ) {
    precondition(limit >= 0, "limit is a number of bytes and must not be negative")
    self.limit = limit
    self.byteOrder = byteOrder
    self.bodyTimeout = bodyTimeout
  }

  /// Adds the next chunk of the stream. Afterwards, call `next()` until it returns nil.
  public mutating func receive(_ bytes: Span<UInt8>, at now: Instant) {
    failIfLate(at: now)
    var offset = 0
    while offset < bytes.count {
      offset += receiveSome(bytes.extracting(offset..<bytes.count), at: now)
    }
  }

  /// The body of a frame.
  public enum Body: Hashable, Sendable {
    /// The body lies in one chunk, at these indices.
    case chunk(Range<Int>)
    /// The body arrived in several chunks, from which it was copied.
    case copy([UInt8])
  }

  /// Returns the next complete body, or nil if more bytes are needed. `chunk` is the next chunk of
  /// the stream. Begin with an `offset` of 0, which each call advances, and repeat the call with
  /// the same chunk until it returns nil. A body that lies in one chunk is not copied. Throws an
  /// error only after all bodies before it have been returned.
  public mutating func next(
    in chunk: Span<UInt8>, from offset: inout Int, at now: Instant
  ) throws(FrameError) -> Body? {
    failIfLate(at: now)
    while ready.isEmpty, offset < chunk.count {
      if let body = wholeBody(in: chunk, from: offset) {
        offset = body.upperBound
        return .chunk(body)
      }
      offset += receiveSome(chunk.extracting(offset..<chunk.count), at: now)
    }
    return try next().map { .copy($0) }
  }

  /// Returns the range of indices of the body of the frame that begins at `offset`. Returns nil if
  /// no frame begins there, if the body is too long, or if the body does not end in this chunk.
  private func wholeBody(in chunk: Span<UInt8>, from offset: Int) -> Range<Int>? {
    guard case .header(_, 0) = state, chunk.count - offset >= 8 else { return nil }
    var length: UInt64 = 0
    for index in 0..<8 {
      let place = byteOrder == .little ? index : 7 - index
      length |= UInt64(chunk[offset + index]) << UInt64(8 * place)
    }
    let start = offset + 8
    guard length <= UInt64(min(limit, chunk.count - start)) else { return nil }
    return start..<start + Int(length)
  }

  /// Consumes the bytes up to the end of a header or of a body, and returns their number.
  private mutating func receiveSome(_ bytes: Span<UInt8>, at now: Instant) -> Int {
    switch state {
    case .header(let value, let count):
      return receiveHeader(bytes, value: value, count: count, at: now)
    case .body(let body, let want, let deadline):
      state = .header(value: 0, count: 0)  // drop the second reference, which would force a copy
      return receiveBody(bytes, after: body, want: want, deadline: deadline)
    case .failed: return bytes.count
    }
  }

  /// Returns the next complete body, or nil if more bytes are needed. Throws an error only after
  /// all bodies before it have been returned.
  public mutating func next() throws(FrameError) -> [UInt8]? {
    if let body = ready.popFirst() { return body }
    if case .failed(let error) = state { throw error }
    return nil
  }

  /// Handles the end of the stream. Throws `unexpectedEOF` if the stream ends inside a frame, or
  /// the error that ended decoding earlier.
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

  /// The deadline for a partly received body, or nil if no body is partly received.
  public var nextTimeout: Instant? {
    if case .body(_, _, let deadline) = state { deadline } else { nil }
  }

  /// Checks the deadline for a partly received body. Throws `bodyTimeout` if it has passed, or the
  /// error that ended decoding earlier.
  public mutating func handleTimeout(at now: Instant) throws(FrameError) {
    failIfLate(at: now)
    if case .failed(let error) = state { throw error }
  }

  private mutating func failIfLate(at now: Instant) {
    guard case .body(let body, let want, let deadline) = state, now >= deadline else { return }
    state = .failed(.bodyTimeout(got: body.count, want: want))
  }

  /// Consumes as many of the header's missing bytes as have arrived, and returns the number of
  /// bytes consumed.
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

  /// Starts a body of `length` bytes. An empty body is complete immediately. Memory is reserved,
  /// and a deadline set, only if the current chunk does not contain the whole body.
  private mutating func beginBody(of length: Int, with available: Int, at now: Instant) {
    if length == 0 {
      state = .header(value: 0, count: 0)
      ready.append([])
      return
    }
    var body: [UInt8] = []
    var deadline = Instant.distantFuture
    if available < length {
      body.reserveCapacity(min(length, Self.maximumReserve))
      deadline = now + bodyTimeout
    }
    state = .body(bytes: body, want: length, deadline: deadline)
  }

  /// Consumes as many of the body's missing bytes as have arrived, and returns the number of bytes
  /// consumed.
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
