/// What a machine expects of the stream below a connection.
package enum SessionLink {
  /// The most bytes that are handed down at a time, and the mark under which more are.
  package static let pieceLength = 64 << 10
  /// The queue that a stream needs for that: it says that it is writable again at half of it.
  package static let queueLimit = 2 * pieceLength
}
