/// A ring of sent packets, indexed by number, that grows as needed. The packets are also linked
/// into doubly linked lists, each in number order.
struct PacketRing: Sendable {
  /// A list of packets in the ring.
  struct List: Sendable {
    /// The value that stands for "no packet" after the last packet of a list and before the first.
    static let end = UInt64.max

    fileprivate(set) var head = end
    fileprivate(set) var tail = end
    fileprivate(set) var count = 0
    var isEmpty: Bool { count == 0 }
  }

  private var packets = [SentPacket](repeating: .free, count: 4)

  private var mask: Int { packets.count - 1 }

  subscript(number: UInt64) -> SentPacket {
    _read { yield packets[Int(truncatingIfNeeded: number) & mask] }
    _modify { yield &packets[Int(truncatingIfNeeded: number) & mask] }
  }

  /// Makes room for `count` packets whose lowest number is `oldest`.
  mutating func reserve(_ count: UInt64, from oldest: UInt64) {
    guard count > UInt64(packets.count) else { return }
    var capacity = packets.count
    while UInt64(capacity) < count { capacity *= 2 }
    let old = self
    packets = Array(repeating: .free, count: capacity)
    for number in oldest..<oldest + UInt64(old.packets.count) { self[number] = old[number] }
  }

  /// Returns the number that follows `number` in its list, or `List.end` if `number` is the last.
  func number(after number: UInt64) -> UInt64 {
    let distance = self[number].next &- UInt32(truncatingIfNeeded: number)
    return distance == 0 ? List.end : number + UInt64(distance)
  }

  private func number(before number: UInt64) -> UInt64 {
    let distance = UInt32(truncatingIfNeeded: number) &- self[number].previous
    return distance == 0 ? List.end : number - UInt64(distance)
  }

  /// Stores a new packet and appends it to a list.
  @inline(__always)
  mutating func append(_ packet: consuming SentPacket, _ number: UInt64, to list: inout List) {
    let low = UInt32(truncatingIfNeeded: number)
    packet.next = low
    packet.previous = list.isEmpty ? low : UInt32(truncatingIfNeeded: list.tail)
    self[number] = packet
    link(number, to: &list)
  }

  /// Appends the packet `number`, which was removed from another list, to `list`.
  mutating func append(_ number: UInt64, to list: inout List) {
    let low = UInt32(truncatingIfNeeded: number)
    self[number].next = low
    self[number].previous = list.isEmpty ? low : UInt32(truncatingIfNeeded: list.tail)
    link(number, to: &list)
  }

  @inline(__always) private mutating func link(_ number: UInt64, to list: inout List) {
    if list.isEmpty {
      list.head = number
    } else {
      self[list.tail].next = UInt32(truncatingIfNeeded: number)
    }
    list.tail = number
    list.count += 1
  }

  /// Removes a packet from its list. The packet's contents stay readable until its slot is reused.
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
