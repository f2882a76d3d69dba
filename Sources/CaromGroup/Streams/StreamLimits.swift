/// The limits of `ByteStreams`: no queue or table exceeds them.
package enum StreamLimits {
  /// The number of streams that each side may have opened and that are not over.
  package static let streams = 256
  /// The maximum length of a stream's name, in bytes of UTF-8.
  package static let nameLength = 255
  /// The maximum number of bytes in one message of a stream.
  package static let chunkLength = 32 << 10
  /// The maximum number of bytes that one stream queues until the peer gives credit or the session
  /// has room.
  package static let queuedBytes = 64 << 10
  /// The maximum number of bytes of all streams that were given to the session and that the peer's
  /// session has not acknowledged. It is a quarter of what a session queues for a peer.
  package static let unacknowledgedBytes = 1 << 20
  /// The maximum number of bytes by which the credit of all streams of a peer may grow in total.
  package static let creditGrowth = 16 << 20
}
