/// Limits on the data that a session queues on a connection's stream.
package enum SessionLink {
  /// The maximum number of bytes written at a time. More is written once the stream's send queue
  /// holds fewer bytes than this.
  package static let writeLength = 64 << 10
  /// The limit to set for a stream's send queue, in bytes. A stream reports that it is writable
  /// once its queue has fallen to half of the limit, which is `writeLength`.
  package static let queueLimit = 2 * writeLength
}
