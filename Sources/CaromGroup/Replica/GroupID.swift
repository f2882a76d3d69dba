import CaromCore

/// What tells groups apart whose members are connected: the 64-bit FNV-1a hash of the group's name
/// in UTF-8.
package struct GroupID: RawRepresentable, Hashable, Sendable {
  package let rawValue: UInt64

  package init(rawValue: UInt64) { self.rawValue = rawValue }

  package init(named name: String) {
    var digest = Digest()
    digest.absorb(name.utf8)
    rawValue = digest.value
  }
}
