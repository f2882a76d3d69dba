import CaromCore
import CUVLoop

/// The server's side of the frames of a WebSocket (RFC 6455 §5), without input or output. The
/// payload of all binary messages together is a stream of bytes; where one message ends and the
/// next begins does not matter.
///
/// Unchecked: the loop that has the socket is the only one that uses the frames. They move to
/// another loop with the descriptor, through a mutex.
@safe package final class WebSocketFrames: @unchecked Sendable {
  /// The status codes of a Close frame that this side sends (RFC 6455 §7.4.1).
  package enum CloseCode: UInt16, Sendable {
    case normal = 1000
    case protocolError = 1002
    case unsupportedData = 1003
    case invalidPayload = 1007
    case messageTooBig = 1009
  }

  private enum Opcode: UInt8 {
    case continuation = 0
    case text = 1
    case binary = 2
    case close = 8
    case ping = 9
    case pong = 10

    var isControl: Bool { rawValue >= Opcode.close.rawValue }
  }

  /// The frame of which parts are still to come.
  private struct Frame {
    let opcode: Opcode
    let isFinal: Bool
    var left: UInt64
  }

  /// The maximum length of a message, in bytes, over all of its fragments.
  package static let messageLimit = 81_920

  /// The length of the longest header that is sent, in bytes.
  static let longestHeader = 10

  private let decoder: OpaquePointer
  private var frame: Frame?
  /// The number of bytes of the message in progress that have been announced; nil between messages.
  private var messageLength: UInt64?
  /// The payload of the control frame in progress, at most 125 bytes.
  private var control: [UInt8] = []
  /// Whether a Close frame was sent or a violation was answered. Nothing is sent or received after
  /// that.
  package private(set) var isClosed = false

  /// Creates the frames of a new WebSocket.
  package init() throws(TransportError) {
    var out: OpaquePointer?
    try check(unsafe cuv_websocket_create(&out), "open a WebSocket")
    unsafe decoder = out!
  }

  deinit { unsafe cuv_websocket_destroy(decoder) }

  // MARK: - Sending

  /// Appends the frame of one binary message with `payload`. Returns false after the end.
  package func appendMessage(_ payload: Span<UInt8>, to bytes: inout [UInt8]) -> Bool {
    guard !isClosed else { return false }
    bytes.reserveCapacity(bytes.count + Self.longestHeader + payload.count)
    Self.appendHeader(.binary, length: payload.count, to: &bytes)
    bytes.append(copying: payload)
    return true
  }

  /// Returns an empty Ping frame, or nil after the end.
  package func makePing() -> [UInt8]? { isClosed ? nil : Self.makeHeader(.ping, length: 0) }

  /// Returns a Close frame and ends the WebSocket, or nil if it has ended.
  package func close(_ code: CloseCode = .normal) -> [UInt8]? {
    guard !isClosed else { return nil }
    isClosed = true
    return Self.makeClose(code.rawValue)
  }

  private static func makeClose(_ code: UInt16?) -> [UInt8] {
    guard let code else { return makeHeader(.close, length: 0) }
    return makeHeader(.close, length: 2) + [UInt8(code >> 8), UInt8(code & 0xFF)]
  }

  /// Returns the header of an unfragmented and unmasked frame.
  private static func makeHeader(_ opcode: Opcode, length: Int) -> [UInt8] {
    var header: [UInt8] = []
    appendHeader(opcode, length: length, to: &header)
    return header
  }

  /// Appends the header of an unfragmented and unmasked frame (RFC 6455 §5.2).
  private static func appendHeader(_ opcode: Opcode, length: Int, to frame: inout [UInt8]) {
    frame.append(0x80 | opcode.rawValue)
    guard length >= 126 else { return frame.append(UInt8(length)) }
    let width = length <= 0xFFFF ? 2 : 8
    frame.append(width == 2 ? 126 : 127)
    for index in (0..<width).reversed() {
      frame.append(UInt8(truncatingIfNeeded: length >> (8 * index)))
    }
  }

  // MARK: - Receiving

  /// Reads `bytes`, appends the payload of binary messages to `payload`, and appends the frames
  /// that have to be sent in answer to `replies`: Pong frames, and the Close frame that ends the
  /// WebSocket. Bytes after the end are ignored.
  package func receive(
    _ bytes: Span<UInt8>, into payload: inout [UInt8], replies: inout [UInt8]
  ) {
    unsafe bytes.withUnsafeBufferPointer { buffer in
      unsafe cuv_websocket_feed(decoder, buffer.baseAddress, buffer.count)
      while !isClosed {
        var part = unsafe cuv_websocket_part()
        let status = unsafe cuv_websocket_next(decoder, &part)
        if status == 0 { break }
        let violation =
          status < 0 ? .protocolError : read(part, into: &payload, replies: &replies)
        if let violation, let frame = close(violation) { replies += frame }
      }
      unsafe cuv_websocket_feed(decoder, nil, 0)
    }
  }

  /// Reads a part of a frame. Returns the status code if the frame is a violation.
  @safe private func read(
    _ part: cuv_websocket_part, into payload: inout [UInt8], replies: inout [UInt8]
  ) -> CloseCode? {
    if frame == nil, let violation = begin(part) { return violation }
    guard var current = frame else { return .protocolError }
    let bytes = unsafe UnsafeBufferPointer(start: part.bytes, count: part.count)
    if current.opcode.isControl {
      unsafe control.append(contentsOf: bytes)
    } else {
      unsafe payload.append(contentsOf: bytes)
    }
    current.left -= UInt64(unsafe part.count)
    frame = current.left == 0 ? nil : current
    guard current.left == 0 else { return nil }
    if current.opcode.isControl { return finishControl(current.opcode, replies: &replies) }
    if current.isFinal { messageLength = nil }
    return nil
  }

  /// Checks the header of a frame. Returns the status code if the frame is a violation.
  @safe private func begin(_ part: cuv_websocket_part) -> CloseCode? {
    // Without an extension, the reserved bits are 0 (§5.2). A client's frames are masked (§5.1).
    guard unsafe part.reserved == 0, unsafe part.masked else { return .protocolError }
    guard let opcode = Opcode(rawValue: unsafe part.opcode) else { return .protocolError }
    let length = unsafe part.frame_length
    if opcode.isControl {
      control.removeAll(keepingCapacity: true)
    } else {
      let isContinuation = opcode == .continuation
      guard isContinuation == (messageLength != nil) else { return .protocolError }
      guard opcode != .text else { return .unsupportedData }
      let announced = messageLength ?? 0
      guard length <= UInt64(Self.messageLimit) - announced else { return .messageTooBig }
      messageLength = announced + length
    }
    frame = Frame(opcode: opcode, isFinal: unsafe part.final, left: length)
    return nil
  }

  /// Handles a complete control frame (RFC 6455 §5.5).
  private func finishControl(_ opcode: Opcode, replies: inout [UInt8]) -> CloseCode? {
    switch opcode {
    case .ping: replies += Self.makeHeader(.pong, length: control.count) + control
    case .close: return answerClose(&replies)
    default: break
    }
    return nil
  }

  /// Answers a Close frame with the same status code, if it has one (RFC 6455 §5.5.1).
  private func answerClose(_ replies: inout [UInt8]) -> CloseCode? {
    var code: UInt16?
    if !control.isEmpty {
      guard control.count >= 2 else { return .protocolError }
      let received = UInt16(control[0]) << 8 | UInt16(control[1])
      guard Self.mayBeSent(received) else { return .protocolError }
      guard String(validating: control[2...], as: UTF8.self) != nil else { return .invalidPayload }
      code = received
    }
    isClosed = true
    replies += Self.makeClose(code)
    return nil
  }

  /// Whether a peer may send the status code (RFC 6455 §7.4, and IANA's registry for 1012 to 1014).
  private static func mayBeSent(_ code: UInt16) -> Bool {
    switch code {
    case 1000...1003, 1007...1014, 3000...4999: true
    default: false
    }
  }
}
