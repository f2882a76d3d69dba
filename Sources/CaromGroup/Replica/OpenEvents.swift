import CaromCore

/// How many entries of a leader's log are not applied yet, by the member that has given them.
struct OpenEvents: Sendable {
  private var own: [PeerID: Int] = [:]
  private var vouched: [PeerID: Int] = [:]

  func own(of peer: PeerID) -> Int { own[peer] ?? 0 }
  func vouched(by peer: PeerID) -> Int { vouched[peer] ?? 0 }

  mutating func add(_ entry: LedgerEntry) {
    if entry.voucher == entry.submitter {
      own[entry.voucher, default: 0] += 1
    } else {
      vouched[entry.voucher, default: 0] += 1
    }
  }

  /// Removes an entry, which may have been appended by an earlier leader.
  mutating func remove(_ entry: LedgerEntry) {
    if entry.voucher == entry.submitter {
      own[entry.voucher] = Self.decrement(own[entry.voucher])
    } else {
      vouched[entry.voucher] = Self.decrement(vouched[entry.voucher])
    }
  }

  private static func decrement(_ count: Int?) -> Int? {
    guard let count, count > 1 else { return nil }
    return count - 1
  }
}
