/// An event that a TCP stream reports to its handler. Spans are valid only during the callback.
public enum TCPEvent: ~Escapable {
  /// Bytes were received, at least one.
  case bytes(Span<UInt8>)
  /// The send queue has drained to at most half of its limit, after it exceeded half of the limit
  /// or a `write` threw `queueFull`.
  case writable
  /// The peer has finished sending. Bytes can still be sent until the stream is closed.
  case end
  /// The stream is closed. No further events follow. The error is nil after an orderly `close`.
  case closed(TransportError?)
}

/// The handler of a stream's events. A closure in a structure is called as it is; one in an optional
/// would be called through a thunk that passes the event through memory.
struct TCPEventHandler {
  let call: (borrowing TCPEvent) -> Void

  init(_ call: @escaping (borrowing TCPEvent) -> Void) { self.call = call }
}
