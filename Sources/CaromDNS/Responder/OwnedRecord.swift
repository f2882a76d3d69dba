import CaromCore

/// A record that this responder publishes on one link.
struct OwnedRecord: Hashable, Sendable {
  /// Which hosts may publish records with the same name and type (RFC 6762 §2).
  enum Role: Hashable, Sendable {
    /// A record that other hosts may publish too.
    case shared
    /// A record that only this host may publish.
    case unique
    /// The NSEC record that lists the types of a unique name. It answers only questions for types
    /// that do not exist.
    case denial
  }

  var record: Record
  var role: Role

  /// Whether only this host may have records of the same name and type.
  var isUnique: Bool { role != .shared }

  /// Returns whether the record gives an address of this host, or the name of such an address, and
  /// is no longer published on `link`.
  func isObsolete(on link: Link) -> Bool {
    switch record.data {
    case .address(let address): !link.hasAddress(address)
    case .pointer where role == .unique: !link.reverseNames.contains(record.name)
    default: false
    }
  }
}
