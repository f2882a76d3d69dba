/// What happens on a stream; spans are valid during the callback only.
public enum TCPEvent: ~Escapable {
  /// Bytes arrived, at least one.
  case bytes(Span<UInt8>)
  /// The queue fell under half its limit, after it had been over.
  case writable
  /// The peer will send no more; we still can, until we close.
  case end
  /// The last event, once: `nil` after an orderly close of ours, else why it broke.
  case closed(TransportError?)
}
