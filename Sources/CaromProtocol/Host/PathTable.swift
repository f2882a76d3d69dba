import CaromCore

/// Whose datagrams come from where. Looked up for each of them, never gone through: open
/// addressing, since a `Dictionary` of endpoints takes ten times as long.
struct PathTable: Sendable {
  /// A path's address in three words; a link of 0 is no entry.
  private struct Slot: Sendable, BitwiseCopyable {
    var high: UInt64
    var low: UInt64
    var rest: UInt64
    var link: UInt64 = 0

    init(_ address: PathAddress) {
      let tail = UInt64(address.endpoint.port) << 8 | UInt64(address.sender.rawValue)
      switch address.endpoint.address {
      case .v4(let value):
        (high, low, rest) = (0, UInt64(value), tail)
      case .v6(let high, let low, let scope):
        (self.high, self.low, rest) = (high, low, UInt64(scope) << 32 | tail | 0x80)
      }
    }

    func isOf(_ other: Slot) -> Bool {
      low == other.low && rest == other.rest && high == other.high
    }
  }

  private var slots: [Slot] = []
  private(set) var count = 0
  /// Drawn from the host's secret, so that nobody can choose addresses that collide.
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
      let place = place(of: Slot(address))
      return slots[place].link == 0 ? nil : ConnectionID(slots[place].link)
    }
    set {
      if let newValue {
        insert(Slot(address), newValue)
      } else if count > 0 {
        remove(at: place(of: Slot(address)))
      }
    }
  }

  @inline(__always) private func home(of slot: Slot) -> Int {
    let product = (slot.low ^ salt.0).multipliedFullWidth(by: slot.high ^ slot.rest ^ salt.1)
    let mixed = (product.high ^ product.low) &* 0x9E37_79B9_7F4A_7C15
    return Int(truncatingIfNeeded: mixed >> 32) & (slots.count &- 1)
  }

  /// Where it is, or the free place where it would be.
  @inline(__always) private func place(of slot: Slot) -> Int {
    var place = home(of: slot)
    while slots[place].link != 0, !slots[place].isOf(slot) {
      place = (place &+ 1) & (slots.count &- 1)
    }
    return place
  }

  private mutating func insert(_ slot: Slot, _ link: ConnectionID) {
    precondition(link.number != 0, "links are numbered from 1")
    if 2 * (count + 1) > slots.count { grow() }
    let place = place(of: slot)
    if slots[place].link == 0 { count += 1 }
    slots[place] = slot
    slots[place].link = link.number
  }

  private mutating func grow() {
    let old = slots
    var free = Slot(PathAddress(endpoint: Endpoint(.any4, port: 0), sender: .initiator))
    free.link = 0
    slots = Array(repeating: free, count: max(8, 2 * old.count))
    for slot in old where slot.link != 0 { slots[place(of: slot)] = slot }
  }

  /// Those behind it that it stood in the way of move up.
  private mutating func remove(at place: Int) {
    guard slots[place].link != 0 else { return }
    count -= 1
    var gap = place
    slots[gap].link = 0
    var next = (gap &+ 1) & (slots.count &- 1)
    while slots[next].link != 0 {
      let home = home(of: slots[next])
      let isBeyond = (next &- home) & (slots.count &- 1) >= (next &- gap) & (slots.count &- 1)
      if isBeyond {
        slots[gap] = slots[next]
        slots[next].link = 0
        gap = next
      }
      next = (next &+ 1) & (slots.count &- 1)
    }
  }
}
