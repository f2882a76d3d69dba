import CaromCore

/// Maps the address of a datagram path to its connection. A hash table with open addressing is used
/// because every received datagram needs a lookup, and a lookup in a `Dictionary` of endpoints
/// takes ten times as long.
struct PathTable: Sendable {
  /// The address of a path in three words, and the number of its connection, which is 0 in a free
  /// slot.
  private struct Slot: Sendable, BitwiseCopyable {
    var high: UInt64
    var low: UInt64
    var rest: UInt64
    var connection: UInt64 = 0

    init(_ address: PathAddress) {
      let tail = UInt64(address.endpoint.port) << 8 | UInt64(address.sender.rawValue)
      switch address.endpoint.address {
      case .v4(let value):
        (high, low, rest) = (0, UInt64(value), tail)
      case .v6(let high, let low, let scope):
        (self.high, self.low, rest) = (high, low, UInt64(scope) << 32 | tail | 0x80)
      }
    }

    func hasSameAddress(as other: Slot) -> Bool {
      low == other.low && rest == other.rest && high == other.high
    }
  }

  private var slots: [Slot] = []
  /// The number of paths in the table.
  private(set) var count = 0
  /// The salt of the hash function. It is derived from the host's secret, so that an attacker
  /// cannot choose addresses that collide.
  private let salt: (UInt64, UInt64)

  init(secret: HostSecret) {
    var hash = SipHash(key: secret.low, secret.high)
    hash.absorb(0x7061_7468)
    let first = hash.finish()
    salt = (first, first.multipliedFullWidth(by: 0x9E37_79B9_7F4A_7C15).high | 1)
  }

  subscript(address: PathAddress) -> ConnectionID? {
    get {
      guard count > 0 else { return nil }
      let index = index(of: Slot(address))
      return slots[index].connection == 0 ? nil : ConnectionID(slots[index].connection)
    }
    set {
      if let newValue {
        insert(Slot(address), newValue)
      } else if count > 0 {
        remove(at: index(of: Slot(address)))
      }
    }
  }

  /// Returns the index at which the probe sequence of a slot's address begins.
  @inline(__always) private func home(of slot: Slot) -> Int {
    let product = (slot.low ^ salt.0).multipliedFullWidth(by: slot.high ^ slot.rest ^ salt.1)
    let mixed = (product.high ^ product.low) &* 0x9E37_79B9_7F4A_7C15
    return Int(truncatingIfNeeded: mixed >> 32) & (slots.count &- 1)
  }

  /// Returns the index of the slot with the same address, or of the free slot in which to insert
  /// the address.
  @inline(__always) private func index(of slot: Slot) -> Int {
    var index = home(of: slot)
    while slots[index].connection != 0, !slots[index].hasSameAddress(as: slot) {
      index = (index &+ 1) & (slots.count &- 1)
    }
    return index
  }

  private mutating func insert(_ slot: Slot, _ connection: ConnectionID) {
    precondition(connection.number != 0, "connection numbers start at 1; 0 marks a free slot")
    if 2 * (count + 1) > slots.count { grow() }
    let index = index(of: slot)
    if slots[index].connection == 0 { count += 1 }
    slots[index] = slot
    slots[index].connection = connection.number
  }

  private mutating func grow() {
    let old = slots
    var free = Slot(PathAddress(endpoint: Endpoint(.any4, port: 0), sender: .initiator))
    free.connection = 0
    slots = Array(repeating: free, count: max(8, 2 * old.count))
    for slot in old where slot.connection != 0 { slots[index(of: slot)] = slot }
  }

  /// Frees a slot and moves later entries of the same probe sequence up, so that no lookup stops
  /// at the gap.
  private mutating func remove(at index: Int) {
    guard slots[index].connection != 0 else { return }
    count -= 1
    var gap = index
    slots[gap].connection = 0
    var next = (gap &+ 1) & (slots.count &- 1)
    while slots[next].connection != 0 {
      let home = home(of: slots[next])
      let mayMove = (next &- home) & (slots.count &- 1) >= (next &- gap) & (slots.count &- 1)
      if mayMove {
        slots[gap] = slots[next]
        slots[next].connection = 0
        gap = next
      }
      next = (next &+ 1) & (slots.count &- 1)
    }
  }
}
