import CaromCrypto

/// The reasons why the directory does not let a host into its fleet. The host asks again for 4
/// seconds, longer than the lease of a dead process, and then leaves.
public enum RegistrationRefusal: Error, Hashable, Sendable {
  /// Another process with the host's identity has a lease: give each host an identity of its own.
  /// If the other process is dead, its lease ends within 3 seconds.
  case identityInUse
  /// The other hosts of the fleet have another key: give the same one to all hosts and to the
  /// matchmaker. Players would be sent here with tokens that this host does not accept.
  case otherKey
}

extension RegistrationRefusal: CustomStringConvertible {
  /// A line for users that says what happened and what to do.
  public var description: String {
    switch self {
    case .identityInUse:
      "another process has this host's identity: give each host an identity of its own"
    case .otherKey:
      "the other hosts of the fleet have another key: give the same one to all hosts and to the "
        + "matchmaker"
    }
  }
}

/// The fingerprints of the backend keys that a host has, at most 4. The first key makes its tokens;
/// it accepts tokens of all. Empty if the host has no key, as in tests.
package struct HostKeys: Hashable, Sendable {
  /// The maximum number of keys.
  package static let limit = 4

  package let fingerprints: [KeyFingerprint]

  package init(_ fingerprints: [KeyFingerprint] = []) {
    precondition(fingerprints.count <= Self.limit, "a host has at most 4 keys")
    self.fingerprints = fingerprints
  }

  /// Whether each of two hosts accepts the tokens that the other one makes.
  func agree(with other: HostKeys) -> Bool {
    guard let first = fingerprints.first, let second = other.fingerprints.first else { return true }
    return other.fingerprints.contains(first) && fingerprints.contains(second)
  }

  /// Whether the host accepts the tokens of a key.
  func contains(_ key: KeyFingerprint) -> Bool {
    fingerprints.isEmpty || fingerprints.contains(key)
  }

  /// The fingerprints with a space between two of them.
  var text: String { fingerprints.map(\.description).joined(separator: " ") }
}
