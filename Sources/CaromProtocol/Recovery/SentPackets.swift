/// The packets that a sender still waits to hear of, by number, and what they carried.
///
/// Packets and records lie in rings that grow to what a path needs and stay. Lists in the order of
/// their numbers run through the packets: those that wait for an answer, those that elicit none,
/// and those that were given up, which are kept for a while.
struct SentPackets: Sendable {
  /// The most packets that are remembered, waiting or given up.
  static let limit = 65_536
  /// Packets that elicit nothing are forgotten after that many nanoseconds: nobody has to say
  /// that they came.
  static let patience: Int64 = 1_000_000_000

  private(set) var nextNumber: UInt64 = 0
  private(set) var waiting = PacketRing.List()
  private(set) var quiet = PacketRing.List()
  private(set) var lost = PacketRing.List()
  /// Bytes of the waiting packets.
  private(set) var inFlight = 0

  private var ring = PacketRing()
  private var records = [FrameRecord](repeating: FrameRecord(.reliable), count: 16)
  private var recordsEnd: UInt64 = 0

  /// The oldest number that is remembered.
  var oldest: UInt64 { min(waiting.head, quiet.head, lost.head, nextNumber) }
  var isFull: Bool { nextNumber - oldest >= UInt64(Self.limit) }

  subscript(number: UInt64) -> SentPacket { _read { yield ring[number] } }

  func number(after number: UInt64) -> UInt64 { ring.number(after: number) }

  // MARK: Sending

  /// Takes the next number for a packet, and copies its records.
  mutating func append(_ packet: consuming SentPacket, carrying carried: [FrameRecord]) {
    forgetQuiet(before: packet.sent - Self.patience)
    let number = nextNumber
    ring.reserve(number - oldest + 1, from: oldest)
    nextNumber += 1
    packet.recordsStart = recordsEnd
    packet.recordCount = UInt32(truncatingIfNeeded: carried.count)
    append(carried)
    guard packet.traits.contains(.isAckEliciting) else {
      return ring.push(packet, number, to: &quiet)
    }
    inFlight += Int(packet.bytes)
    ring.push(packet, number, to: &waiting)
  }

  private mutating func append(_ carried: [FrameRecord]) {
    guard !carried.isEmpty else { return }
    var start = recordsEnd
    if !waiting.isEmpty { start = ring[waiting.head].recordsStart }
    if !quiet.isEmpty { start = min(start, ring[quiet.head].recordsStart) }
    reserveRecords(recordsEnd - start + UInt64(carried.count), from: start)
    for record in carried {
      records[Int(truncatingIfNeeded: recordsEnd) & (records.count - 1)] = record
      recordsEnd += 1
    }
  }

  private mutating func reserveRecords(_ count: UInt64, from start: UInt64) {
    guard count > UInt64(records.count) else { return }
    var capacity = records.count
    while UInt64(capacity) < count { capacity *= 2 }
    let old = records
    records = Array(repeating: FrameRecord(.reliable), count: capacity)
    for place in start..<recordsEnd {
      let low = Int(truncatingIfNeeded: place)
      records[low & (capacity - 1)] = old[low & (old.count - 1)]
    }
  }

  private mutating func forgetQuiet(before time: Int64) {
    while !quiet.isEmpty, ring[quiet.head].sent < time || quiet.count >= Self.limit / 2 {
      ring.remove(quiet.head, from: &quiet)
    }
  }

  // MARK: Resolving

  /// Takes a waiting or quiet packet off: it came. Its records are appended to `told`.
  mutating func acknowledge(_ number: UInt64, telling told: inout [FrameRecord]) {
    resolve(number, telling: &told)
  }

  /// Gives a waiting packet up and keeps it with the lost.
  mutating func giveUp(_ number: UInt64, at now: Int64, telling told: inout [FrameRecord]) {
    resolve(number, telling: &told)
    ring[number].lostTime = now
    ring.push(number, to: &lost)
  }

  /// Forgets a packet of the lost.
  mutating func forget(_ number: UInt64) { ring.remove(number, from: &lost) }

  /// Forgets what was given up before `time`.
  mutating func forgetLost(before time: Int64) {
    while !lost.isEmpty, ring[lost.head].lostTime < time { forget(lost.head) }
  }

  private mutating func resolve(_ number: UInt64, telling told: inout [FrameRecord]) {
    let start = ring[number].recordsStart
    for place in start..<start + UInt64(ring[number].recordCount) {
      told.append(records[Int(truncatingIfNeeded: place) & (records.count - 1)])
    }
    guard ring[number].traits.contains(.isAckEliciting) else {
      return ring.remove(number, from: &quiet)
    }
    ring.remove(number, from: &waiting)
    inFlight -= Int(ring[number].bytes)
  }
}
