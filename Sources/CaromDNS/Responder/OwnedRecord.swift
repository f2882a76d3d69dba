import CaromCore

/// A record of ours on one link.
struct OwnedRecord: Hashable, Sendable {
  /// Who else may have records of that name and type (RFC 6762 §2).
  enum Role: Hashable, Sendable {
    /// Everybody.
    case shared
    /// Nobody.
    case unique
    /// Nobody: the NSEC that says which types the name has. Only questions for others bring it.
    case absence
  }

  var record: Record
  var role: Role

  /// Whether nobody else may have records of that name and type.
  var isUnique: Bool { role != .shared }

  /// Whether it is an address that is not among these.
  func isOther(than addresses: Set<IPAddress>) -> Bool {
    if case .address(let address) = record.data { !addresses.contains(address) } else { false }
  }
}
