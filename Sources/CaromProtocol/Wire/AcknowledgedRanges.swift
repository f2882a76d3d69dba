/// A set of received packet numbers, stored as ranges, newest first. Clear and refill one value
/// instead of creating new ones, because a cleared value keeps its storage.
package struct AcknowledgedRanges: Hashable, Sendable {
  /// The maximum number of ranges that an acknowledgement contains and a receiver remembers.
  package static let maximumCount = 64
  /// The number of packets, up to the largest, that a short acknowledgement reports as received.
  package static let shortSpan: UInt64 = 64

  /// The newest range, or nil if the set is empty. It is stored outside the array because it is the
  /// only range while no packet is lost.
  private var newest: ClosedRange<UInt64>?
  /// The other ranges, newest first, with at least one missing number between neighbors.
  private var older: [ClosedRange<UInt64>] = []

  package init() {}

  package var isEmpty: Bool { newest == nil }
  package var count: Int { newest == nil ? 0 : older.count + 1 }
  /// The largest number in the set, or nil if the set is empty.
  package var largest: UInt64? { newest?.upperBound }

  package private(set) subscript(index: Int) -> ClosedRange<UInt64> {
    get {
      guard index == 0 else { return older[index - 1] }
      guard let newest else { preconditionFailure("the set must not be empty to read a range") }
      return newest
    }
    set {
      if index == 0 { newest = newValue } else { older[index - 1] = newValue }
    }
  }

  package func contains(_ number: UInt64) -> Bool {
    if let newest, number > newest.upperBound { return false }
    for index in 0..<count where number >= self[index].lowerBound {
      return number <= self[index].upperBound
    }
    return false
  }

  /// Removes all ranges but keeps their storage.
  package mutating func removeAll() {
    newest = nil
    if !older.isEmpty { older.removeAll(keepingCapacity: true) }
  }

  /// Replaces all ranges with the range of a short acknowledgement: the 64 numbers up to `largest`,
  /// or 0 through `largest` if `largest` is less than 64.
  @inline(__always) package mutating func setShort(largest: UInt64) {
    removeAll()
    newest = largest - Swift.min(largest, Self.shortSpan - 1)...largest
  }

  /// Appends a range that is older than all others and not adjacent to them.
  package mutating func append(_ range: ClosedRange<UInt64>) {
    guard !isEmpty else {
      newest = range
      return
    }
    precondition(
      count < Self.maximumCount && range.upperBound < self[count - 1].lowerBound - 1,
      "an appended range must be older than all others, and there may be 64 at most")
    older.append(range)
  }

  /// Adds a number and returns whether it is new. If the set would then have 65 ranges, removes the
  /// oldest and stores it in `evicted`; the removed range may consist of the new number itself.
  @inline(__always)
  mutating func insert(_ number: UInt64, evicted: inout ClosedRange<UInt64>?) -> Bool {
    guard let newest else {
      newest = number...number
      return true
    }
    if number == newest.upperBound &+ 1 {
      self.newest = newest.lowerBound...number
      return true
    }
    return insertOutOfOrder(number, evicted: &evicted)
  }

  /// Adds a number that does not follow the largest one.
  private mutating func insertOutOfOrder(
    _ number: UInt64, evicted: inout ClosedRange<UInt64>?
  ) -> Bool {
    var index = 0
    while index < count, self[index].lowerBound > number { index += 1 }
    if index < count, self[index].upperBound >= number { return false }
    evicted = insert(number, before: index)
    return true
  }

  /// Inserts a new number between the ranges `index - 1` and `index`, and returns the range that
  /// was dropped to make room, or nil if none was.
  private mutating func insert(_ number: UInt64, before index: Int) -> ClosedRange<UInt64>? {
    let touchesNewer = index > 0 && self[index - 1].lowerBound == number + 1
    let touchesOlder = index < count && self[index].upperBound + 1 == number
    switch (touchesNewer, touchesOlder) {
    case (true, true):
      self[index - 1] = self[index].lowerBound...self[index - 1].upperBound
      older.remove(at: index - 1)
    case (true, false): self[index - 1] = number...self[index - 1].upperBound
    case (false, true): self[index] = self[index].lowerBound...number
    case (false, false):
      guard count == Self.maximumCount else {
        insert(number...number, at: index)
        return nil
      }
      guard index < count else { return number...number }
      defer { insert(number...number, at: index) }
      return older.removeLast()
    }
    return nil
  }

  private mutating func insert(_ range: ClosedRange<UInt64>, at index: Int) {
    guard index == 0, let newest else {
      older.insert(range, at: index - 1)
      return
    }
    older.insert(newest, at: 0)
    self.newest = range
  }
}
