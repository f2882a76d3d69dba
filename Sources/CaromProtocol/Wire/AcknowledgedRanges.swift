/// Packet numbers that came, as ranges, the newest first. Its owner keeps it, so that its storage
/// is used again.
package struct AcknowledgedRanges: Hashable, Sendable {
  /// The most ranges that one acknowledgement names and a receiver remembers.
  package static let maximumCount = 64
  /// How many packets a short acknowledgement speaks of: this many up to the largest all came.
  package static let shortSpan: UInt64 = 64

  /// The newest range, apart from the others: where nothing is lost there is no other.
  private var newest: ClosedRange<UInt64>?
  /// The others, newest first, with at least one missing number between two.
  private var older: [ClosedRange<UInt64>] = []

  package init() {}

  package var isEmpty: Bool { newest == nil }
  package var count: Int { newest == nil ? 0 : older.count + 1 }
  /// The largest number, if there is a range.
  package var largest: UInt64? { newest?.upperBound }

  package private(set) subscript(index: Int) -> ClosedRange<UInt64> {
    get {
      guard index == 0 else { return older[index - 1] }
      guard let newest else { preconditionFailure("there is no range") }
      return newest
    }
    set {
      if index == 0 { newest = newValue } else { older[index - 1] = newValue }
    }
  }

  package func contains(_ number: UInt64) -> Bool {
    for index in 0..<count where number >= self[index].lowerBound {
      return number <= self[index].upperBound
    }
    return false
  }

  /// Forgets the ranges and keeps their storage.
  package mutating func removeAll() {
    newest = nil
    if !older.isEmpty { older.removeAll(keepingCapacity: true) }
  }

  /// What a short acknowledgement says: the packets up to `largest`, 64 of them or back to 0.
  package mutating func setShort(largest: UInt64) {
    removeAll()
    newest = largest - Swift.min(largest, Self.shortSpan - 1)...largest
  }

  /// Appends a range that is older than all others and does not touch them.
  package mutating func append(_ range: ClosedRange<UInt64>) {
    guard !isEmpty else {
      newest = range
      return
    }
    precondition(
      count < Self.maximumCount && range.upperBound < self[count - 1].lowerBound - 1,
      "a range has to be older than the others, and there are 64 at most")
    older.append(range)
  }

  /// Adds a number and says whether it is new. What no longer finds room comes out in `forgotten`:
  /// the oldest range, or the number itself if it is older.
  mutating func insert(_ number: UInt64, forgotten: inout ClosedRange<UInt64>?) -> Bool {
    guard let newest else {
      newest = number...number
      return true
    }
    if number == newest.upperBound &+ 1 {
      self.newest = newest.lowerBound...number
      return true
    }
    var index = 0
    while index < count, self[index].lowerBound > number { index += 1 }
    if index < count, self[index].upperBound >= number { return false }
    forgotten = place(number, before: index)
    return true
  }

  /// Puts a number that is not there between the ranges `index - 1` and `index`, and returns what
  /// no longer finds room.
  private mutating func place(_ number: UInt64, before index: Int) -> ClosedRange<UInt64>? {
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

extension AcknowledgedRanges: Sequence {
  /// Goes through the ranges, the newest first.
  package func makeIterator() -> some IteratorProtocol<ClosedRange<UInt64>> {
    (0..<count).lazy.map { self[$0] }.makeIterator()
  }
}
