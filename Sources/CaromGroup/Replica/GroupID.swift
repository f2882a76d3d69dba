import CaromCore

/// What tells groups apart whose members are connected: the 64-bit FNV-1a hash of the group's name
/// in UTF-8.
package struct GroupID: RawRepresentable, Hashable, Sendable {
  package let rawValue: UInt64

  package init(rawValue: UInt64) { self.rawValue = rawValue }

  package init(named name: String) {
    rawValue = name.utf8.reduce(0xcbf2_9ce4_8422_2325) { hash, byte in
      (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3
    }
  }
}
