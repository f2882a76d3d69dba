/// Sent packets by number in a ring that grows, with lists that run through them in the order of
/// their numbers.
struct PacketRing: Sendable {
  /// A list through the ring.
  struct List: Sendable {
    /// No number: behind the last, before the first.
    static let end = UInt64.max

    fileprivate(set) var head = end
    fileprivate(set) var tail = end
    fileprivate(set) var count = 0
    var isEmpty: Bool { count == 0 }
  }

  private var packets = [SentPacket](repeating: .free, count: 16)

  var capacity: Int { packets.count }
  private var mask: Int { packets.count - 1 }

  subscript(number: UInt64) -> SentPacket {
    _read { yield packets[Int(truncatingIfNeeded: number) & mask] }
    _modify { yield &packets[Int(truncatingIfNeeded: number) & mask] }
  }

  /// Makes room for `count` packets from `oldest` on.
  mutating func reserve(_ count: UInt64, from oldest: UInt64) {
    guard count > UInt64(packets.count) else { return }
    var capacity = packets.count
    while UInt64(capacity) < count { capacity *= 2 }
    let old = self
    packets = Array(repeating: .free, count: capacity)
    for number in oldest..<oldest + UInt64(old.capacity) { self[number] = old[number] }
  }

  /// The number behind `number` in its list.
  func number(after number: UInt64) -> UInt64 {
    let distance = self[number].next &- UInt32(truncatingIfNeeded: number)
    return distance == 0 ? List.end : number + UInt64(distance)
  }

  private func number(before number: UInt64) -> UInt64 {
    let distance = UInt32(truncatingIfNeeded: number) &- self[number].previous
    return distance == 0 ? List.end : number - UInt64(distance)
  }

  /// Puts a new packet at the end of a list.
  mutating func push(_ packet: consuming SentPacket, _ number: UInt64, to list: inout List) {
    let low = UInt32(truncatingIfNeeded: number)
    packet.next = low
    packet.previous = list.isEmpty ? low : UInt32(truncatingIfNeeded: list.tail)
    self[number] = packet
    join(number, to: &list)
  }

  private mutating func join(_ number: UInt64, to list: inout List) {
    if list.isEmpty {
      list.head = number
    } else {
      self[list.tail].next = UInt32(truncatingIfNeeded: number)
    }
    list.tail = number
    list.count += 1
  }

  /// Puts a packet that was in another list at the end of this.
  mutating func push(_ number: UInt64, to list: inout List) {
    let low = UInt32(truncatingIfNeeded: number)
    self[number].next = low
    self[number].previous = list.isEmpty ? low : UInt32(truncatingIfNeeded: list.tail)
    join(number, to: &list)
  }

  mutating func remove(_ number: UInt64, from list: inout List) {
    let before = self.number(before: number)
    let after = self.number(after: number)
    if before == List.end {
      list.head = after
    } else {
      self[before].next = UInt32(truncatingIfNeeded: after == List.end ? before : after)
    }
    if after == List.end {
      list.tail = before
    } else {
      self[after].previous = UInt32(truncatingIfNeeded: before == List.end ? after : before)
    }
    list.count -= 1
  }
}
