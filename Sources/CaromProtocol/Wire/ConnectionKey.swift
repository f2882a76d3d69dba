import CaromCore

/// The identifier of a connection: 128 random bits that only the connection's two sides know. The
/// key lets a path move to another address and lets a connection be resumed.
package struct ConnectionKey: Hashable, Sendable {
  /// The first eight bytes, as a little-endian integer. Retries and refusals repeat this part of
  /// the hello's key.
  package let prefix: UInt64
  /// The last eight bytes, as a little-endian integer.
  package let rest: UInt64

  package init(prefix: UInt64, rest: UInt64) {
    self.prefix = prefix
    self.rest = rest
  }

  /// Creates a key drawn from `generator`.
  package init(using generator: inout some RandomNumberGenerator) {
    prefix = generator.next()
    rest = generator.next()
  }

  /// The key of a connection that consists of a single stream and cannot gain further links.
  package static let none = ConnectionKey(prefix: 0, rest: 0)
}
