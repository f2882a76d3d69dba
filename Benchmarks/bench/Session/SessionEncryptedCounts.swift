import BenchProbe
import Carom

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
  /// The host's processor time for a packet of 300 bytes that somebody has forged from the address
  /// of a player, with each cipher that this processor has, in nanoseconds; not an exact count.
  var forged: [(cipher: Cipher, nanoseconds: Double)] = []
  /// What a seat takes on the network, by the way in which the client gets it.
  var seats: [(seat: SessionSeat, counts: SessionSeatCounts)] = []

  mutating func measure() {
    heldForIdlePeer = SessionVirtualServer.heldBytes(areEncrypted: true)
    unreliable = SessionCounts.overhead([.unreliable], isEncrypted: true)
    reliable = SessionCounts.overhead([.reliableOrdered], isEncrypted: true)
    nextUnreliable =
      SessionCounts.overhead([.unreliable, .unreliable], isEncrypted: true) - unreliable
    acknowledgement = SessionCounts.acknowledgement(isEncrypted: true) - unreliable
    (allocations, nanoseconds) = SessionCounts.measureGame(isEncrypted: true)
    forged = Cipher.allCases.filter(\.isAvailable).map { ($0, Self.measureForged($0)) }
    let missing = SessionSeatCounts(datagrams: .nan, bytes: .nan)
    seats = SessionSeat.allCases.map { ($0, SessionAdmissions.count($0) ?? missing) }
  }

  private static func measureForged(_ cipher: Cipher, count: Int = 50_000) -> Double {
    var pair = SessionPair(isEncrypted: true, cipher: cipher)
    pair.exchangeUntilIdle()
    var packet = [UInt8](repeating: 0xA5, count: 300)
    var begin: UInt64 = 0
    for number in 0..<count + 1_000 {
      if number == 1_000 { begin = bench_thread_cpu_nanoseconds() }
      // The head of a data packet of the initiator, with a number that is new.
      packet.replaceSubrange(
        0..<5, with: [0x30, UInt8(number & 255), UInt8(number >> 8 & 255), UInt8(number >> 16), 0])
      pair.deliver(packet, from: .initiator)
    }
    return Double(bench_thread_cpu_nanoseconds() - begin) / Double(count)
  }
}
