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
