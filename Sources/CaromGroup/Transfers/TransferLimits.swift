/// The limits of `Transfers`: no queue or table exceeds them.
package enum TransferLimits {
  /// The maximum number of files that one side may offer or send at the same time.
  package static let transfers = 64
  /// The maximum number of bytes of files that were given to the session and that the peer's
  /// session has not acknowledged. It is half of what a session queues for a peer, so that
  /// everything else still finds room there.
  package static let unacknowledgedBytes = 2 << 20
  /// The maximum number of bytes that are being read from files, or were read and wait for the
  /// session.
  package static let readAheadBytes = 1 << 20
  /// The maximum number of bytes by which the credit of all transfers from one peer may grow in
  /// total.
  package static let creditGrowth = 16 << 20
  /// The maximum number of control messages that wait for the session. A peer that causes more
  /// answers than that without reading them violates the protocol.
  package static let waitingMessages = 1024
}
