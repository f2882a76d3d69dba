/// Exact counts of an encrypted session over datagrams, of which each has its counterpart in
/// `SessionCounts`.
struct SessionEncryptedCounts {
  /// The bytes that one message adds to its own bytes, in a UDP payload.
  var unreliable = 0.0
  var reliable = 0.0
  /// The bytes that a further unreliable message in the same datagram adds to its own bytes.
  var nextUnreliable = 0.0
  /// The bytes that an acknowledgement adds to a datagram that is sent anyway.
  var acknowledgement = 0.0
  /// The bytes of memory that a host holds for each peer that only answers pings.
  var heldForIdlePeer = 0.0
  /// The heap allocations for each datagram of a game.
  var allocations = 0.0
  /// The processor time to send a datagram from one machine and receive it in the other, in
  /// nanoseconds; not an exact count.
  var nanoseconds = 0.0

  mutating func measure() {
    heldForIdlePeer = SessionVirtualServer.heldBytes(areEncrypted: true)
    unreliable = SessionCounts.overhead([.unreliable], isEncrypted: true)
    reliable = SessionCounts.overhead([.reliableOrdered], isEncrypted: true)
    nextUnreliable =
      SessionCounts.overhead([.unreliable, .unreliable], isEncrypted: true) - unreliable
    acknowledgement = SessionCounts.acknowledgement(isEncrypted: true) - unreliable
    (allocations, nanoseconds) = SessionCounts.measureGame(isEncrypted: true)
  }
}
