/// The sent packets that are not acknowledged, by number, and the records of their frames.
///
/// Packets and records are stored in rings that grow as needed and never shrink. Three lists link
/// the packets in number order: outstanding packets; packets that elicit no acknowledgement; and
/// lost packets, which are remembered for a while to detect spurious losses.
struct SentPackets: Sendable {
  /// The maximum number of packets that are remembered.
  static let limit = 65_536
  /// The time for which a packet that elicits no acknowledgement is remembered, in nanoseconds: 1
  /// s. Its acknowledgement may never arrive.
  private static let nonElicitingLifetime: Int64 = 1_000_000_000

  /// The packets that were declared lost.
  private(set) var lost = PacketRing.List()
  private(set) var nextNumber: UInt64 = 0
  /// The ack-eliciting packets that are neither acknowledged nor declared lost.
  private(set) var outstanding = PacketRing.List()
  /// The packets that elicit no acknowledgement.
  private(set) var nonEliciting = PacketRing.List()
  /// The total size of the outstanding packets, in bytes.
  private(set) var inFlight = 0
  /// What `takeConfirmed` returns; `.max` stands for nil.
  private var confirmed = UInt64.max

  private var ring = PacketRing()
  private var records = [FrameRecord](repeating: FrameRecord(.reliable), count: 1)
  private var recordsEnd: UInt64 = 0

  /// The lowest number that is remembered; `nextNumber` if there is none.
  private var oldest: UInt64 { min(outstanding.head, nonEliciting.head, lost.head, nextNumber) }
  var isFull: Bool { nextNumber - oldest >= UInt64(Self.limit) }

  subscript(number: UInt64) -> SentPacket { _read { yield ring[number] } }

  /// Returns the number that follows `number` in its list, or `PacketRing.List.end` if `number` is
  /// the last.
  func number(after number: UInt64) -> UInt64 { ring.number(after: number) }

  // MARK: Sending

  /// Adds a packet under the next number and copies its records.
  mutating func append(_ packet: consuming SentPacket, carrying newRecords: [FrameRecord]) {
    removeNonEliciting(sentBefore: packet.sent - Self.nonElicitingLifetime)
    let number = nextNumber
    ring.reserve(number - oldest + 1, from: oldest)
    nextNumber += 1
    packet.recordsStart = recordsEnd
    packet.recordCount = UInt16(truncatingIfNeeded: newRecords.count)
    if !newRecords.isEmpty { append(newRecords) }
    guard packet.traits.contains(.isAckEliciting) else {
      return ring.append(packet, number, to: &nonEliciting)
    }
    inFlight += Int(packet.bytes)
    ring.append(packet, number, to: &outstanding)
  }

  private mutating func append(_ newRecords: [FrameRecord]) {
    var start = recordsEnd
    if !outstanding.isEmpty { start = ring[outstanding.head].recordsStart }
    if !nonEliciting.isEmpty { start = min(start, ring[nonEliciting.head].recordsStart) }
    reserveRecords(recordsEnd - start + UInt64(newRecords.count), from: start)
    for record in newRecords {
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
    for position in start..<recordsEnd {
      let low = Int(truncatingIfNeeded: position)
      records[low & (capacity - 1)] = old[low & (old.count - 1)]
    }
  }

  private mutating func removeNonEliciting(sentBefore time: Int64) {
    while !nonEliciting.isEmpty,
      ring[nonEliciting.head].sent < time || nonEliciting.count >= Self.limit / 2
    {
      ring.remove(nonEliciting.head, from: &nonEliciting)
    }
  }

  // MARK: Resolving

  /// Removes an outstanding or non-eliciting packet that was acknowledged, and appends its records
  /// to `acknowledged`.
  mutating func acknowledge(_ number: UInt64, into acknowledged: inout [FrameRecord]) {
    let reported = ring[number].acknowledged
    if reported != .max, confirmed == .max || reported > confirmed { confirmed = reported }
    removeUnresolved(number, into: &acknowledged)
  }

  /// Returns the largest number in the acknowledgements of packets that were acknowledged since the
  /// last call; nil if there are none.
  @inline(__always) mutating func takeConfirmed() -> UInt64? {
    guard confirmed != .max else { return nil }
    defer { confirmed = .max }
    return confirmed
  }

  /// Moves an outstanding packet to the list of lost packets, and appends its records to
  /// `lostRecords`.
  mutating func declareLost(
    _ number: UInt64, at now: Int64, into lostRecords: inout [FrameRecord]
  ) {
    removeUnresolved(number, into: &lostRecords)
    ring[number].lostTime = now
    ring.append(number, to: &lost)
  }

  /// Removes a packet from the list of lost packets.
  mutating func removeLost(_ number: UInt64) { ring.remove(number, from: &lost) }

  /// Removes the packets that were declared lost before `time`.
  mutating func removeLost(before time: Int64) {
    while !lost.isEmpty, ring[lost.head].lostTime < time { removeLost(lost.head) }
  }

  private mutating func removeUnresolved(_ number: UInt64, into resolved: inout [FrameRecord]) {
    let (start, count) = (ring[number].recordsStart, ring[number].recordCount)
    if count > 0 {
      for position in start..<start + UInt64(count) {
        resolved.append(records[Int(truncatingIfNeeded: position) & (records.count - 1)])
      }
    }
    guard ring[number].traits.contains(.isAckEliciting) else {
      return ring.remove(number, from: &nonEliciting)
    }
    inFlight -= Int(ring[number].bytes)
    ring.remove(number, from: &outstanding)
  }
}
