/// What `ByteStreams` reports to its owner.
package enum StreamEvent: Hashable, Sendable {
  /// The peer has opened a stream.
  case opened(StreamID, name: String)
  /// Bytes of a stream, or its end, have arrived.
  case readable(StreamID)
  /// A stream whose queue was full has room again.
  case writable(StreamID)
  /// The peer, or the end of the connection, has ended a stream in both directions. Bytes that
  /// were not read are lost.
  case reset(StreamID, StreamFailure)
  /// The peer lets this side open further streams, after `open` has failed.
  case canOpen
}
