import CaromCore

/// The messages that were sent, each in one chunk of data, and what the peer has acknowledged of
/// them. Nothing is sent twice: what seems lost is abandoned (RFC 3758 §3.5).
struct SentMessages: Sendable {
  /// A message is lost when this many later ones have been acknowledged (RFC 9260 §7.2.4).
  static let reorderingThreshold = 3
  /// How long after the latest message all messages without acknowledgement are abandoned, in
  /// nanoseconds.
  static let patience: Int64 = 1_000_000_000

  /// The TSN of the next message.
  private(set) var next: TSN
  /// The TSN up to which every message is acknowledged or abandoned, at least the cumulative one.
  private(set) var abandonedThrough: TSN
  /// The sum of the sizes of all messages that are neither acknowledged nor abandoned, in bytes.
  private(set) var outstandingBytes = 0
  /// The receive window that the peer advertised last, in bytes.
  private var peerWindow: Int
  private var newestSentAt = Instant.zero
  /// The sizes of the messages in flight, each at its TSN modulo the window's size.
  private var sizes = [UInt16](repeating: 0, count: TSNWindow.size)
  /// The messages that the peer has received, or has been told to do without.
  private var acknowledged: TSNWindow

  init(first: TSN, peerWindow: UInt32) {
    acknowledged = TSNWindow(first: first)
    next = first
    abandonedThrough = first.advanced(by: -1)
    self.peerWindow = Int(peerWindow)
  }

  /// Whether the peer has to be told that messages were abandoned.
  var owesForward: Bool { acknowledged.cumulative.precedes(abandonedThrough) }

  /// The time at which everything outstanding is abandoned.
  var deadline: Instant? {
    outstandingBytes > 0 ? newestSentAt.advanced(byNanoseconds: Self.patience) : nil
  }

  /// Returns whether the peer has room for a message of `size` bytes. One message may be in flight
  /// even if it has none, as a probe (RFC 9260 §6.1).
  func hasRoom(for size: Int) -> Bool {
    next.distance(from: acknowledged.cumulative) <= TSNWindow.size
      && (outstandingBytes == 0 || outstandingBytes + size <= peerWindow)
  }

  /// Records that a message of `size` bytes, more than 0, is sent, and returns its TSN. There has
  /// to be room for it.
  mutating func append(size: Int, at now: Instant) -> TSN {
    defer { next = next.advanced(by: 1) }
    sizes[slot(next)] = UInt16(size)
    outstandingBytes += size
    newestSentAt = now
    return next
  }

  /// Records the cumulative part of a SACK. Returns false if the SACK is older than another one, or
  /// acknowledges what was never sent.
  mutating func acknowledge(through tsn: TSN, peerWindow: UInt32) -> Bool {
    let distance = tsn.distance(from: acknowledged.cumulative)
    guard distance >= 0, tsn.precedes(next) else { return false }
    if distance > 0 {
      for step in 1...distance { settle(acknowledged.cumulative.advanced(by: step)) }
      acknowledged.advance(to: tsn)
      if abandonedThrough.precedes(acknowledged.cumulative) {
        abandonedThrough = acknowledged.cumulative
      }
    }
    self.peerWindow = Int(peerWindow)
    return true
  }

  /// Records a gap block of a SACK. Returns false if it acknowledges what was never sent.
  mutating func acknowledge(from first: TSN, through last: TSN) -> Bool {
    guard last.precedes(next) else { return false }
    for step in 0..<max(0, last.distance(from: first) + 1) {
      let tsn = first.advanced(by: step)
      settle(tsn)
      _ = acknowledged.insert(tsn)
    }
    return true
  }

  /// Abandons the messages that later ones have overtaken. Returns whether the peer has to be told
  /// of any for the first time.
  mutating func abandonOvertaken() -> Bool {
    var tsn = acknowledged.highest
    var later = 0
    while abandonedThrough.precedes(tsn) {
      if acknowledged.contains(tsn) { later += 1 }
      if later == Self.reorderingThreshold { return abandon(through: tsn) }
      tsn = tsn.advanced(by: -1)
    }
    return false
  }

  /// Abandons all messages that are outstanding, once `deadline` has passed. Returns whether there
  /// were any.
  mutating func abandonOutstanding(at now: Instant) -> Bool {
    guard let deadline, deadline <= now else { return false }
    return abandon(through: next.advanced(by: -1))
  }

  /// Abandons everything up to `last`, and goes on over what has been acknowledged behind it.
  private mutating func abandon(through last: TSN) -> Bool {
    var hasLost = false
    while abandonedThrough.precedes(last)
      || abandonedThrough.precedes(acknowledged.highest)
        && acknowledged.contains(abandonedThrough.advanced(by: 1))
    {
      let tsn = abandonedThrough.advanced(by: 1)
      if !acknowledged.contains(tsn) { hasLost = true }
      settle(tsn)
      abandonedThrough = tsn
    }
    return hasLost
  }

  /// Subtracts a message from what is outstanding, unless that has been done before.
  private mutating func settle(_ tsn: TSN) {
    guard abandonedThrough.precedes(tsn), !acknowledged.contains(tsn) else { return }
    outstandingBytes -= Int(sizes[slot(tsn)])
  }

  private func slot(_ tsn: TSN) -> Int { Int(tsn.value) & (TSNWindow.size - 1) }
}
