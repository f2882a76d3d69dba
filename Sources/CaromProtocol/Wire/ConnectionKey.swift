import CaromCore

/// What names a connection to its host: 128 random bits that only the two sides know, so that a
/// path can move to another address and a connection can be taken up again.
package struct ConnectionKey: Hashable, Sendable {
  /// The first eight bytes, little-endian; they go back in the open, as an answer's address.
  package let prefix: UInt64
  /// The other eight bytes, little-endian.
  package let rest: UInt64

  package init(prefix: UInt64, rest: UInt64) {
    self.prefix = prefix
    self.rest = rest
  }

  /// A key drawn from `generator`.
  package init(using generator: inout some RandomNumberGenerator) {
    prefix = generator.next()
    rest = generator.next()
  }

  /// The key of a connection that has one link alone and never another.
  package static let none = ConnectionKey(prefix: 0, rest: 0)
}
