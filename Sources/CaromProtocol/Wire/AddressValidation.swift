import CaromCore

// Address validation (compare RFC 9000 §8): before a host answers a new endpoint with more than a
// few bytes, the endpoint must prove that it receives what is sent to its address. It does so by
// returning either a cookie, which the host just sent in a `Retry`, or a token, which the host gave
// it on an earlier connection. The host derives both from its secret and remembers neither, except
// which tokens were used (`IssuedTokens`).

/// A host's 128-bit random secret, the key of its cookies, tokens and hash tables.
package struct HostSecret: Hashable, Sendable {
  package let low: UInt64
  package let high: UInt64

  package init(low: UInt64, high: UInt64) {
    self.low = low
    self.high = high
  }

  /// Creates a secret drawn from `generator`.
  package init(using generator: inout some RandomNumberGenerator) {
    low = generator.next()
    high = generator.next()
  }
}

#if !hasFeature(Embedded)
  extension HostSecret: CustomStringConvertible, CustomReflectable {
    /// A string that does not show the secret.
    package var description: String { "host secret" }
    /// An empty mirror, so that `dump` does not show the secret.
    package var customMirror: Mirror { Mirror(self, children: []) }
  }
#endif

/// A value that a host sends to an unvalidated endpoint. An endpoint that returns the cookie has
/// proven that it receives datagrams at its address.
package struct Cookie: Hashable, Sendable {
  /// The length of a time slot in nanoseconds: 16 s. A cookie is valid in the slot in which it was
  /// made and in the next one.
  private static let slotLength: Int64 = 16_000_000_000
  /// The maximum time for which a cookie is valid, in nanoseconds.
  static let lifetime = 2 * slotLength

  /// The 64 bits of the cookie, never 0.
  package let bits: UInt64

  /// Creates the cookie with these bits. Returns nil for 0, which means "no cookie" on the wire.
  package init?(bits: UInt64) {
    guard bits != 0 else { return nil }
    self.bits = bits
  }

  /// Creates the cookie of `endpoint` for the time slot that contains `now`.
  package init(for endpoint: Endpoint, secret: HostSecret, at now: Instant) {
    self.init(for: endpoint, secret: secret, slot: Self.slot(at: now))
  }

  private init(for endpoint: Endpoint, secret: HostSecret, slot: Int64) {
    var hash = SipHash(key: secret.low, secret.high)
    hash.absorb(UInt64(bitPattern: slot))
    switch endpoint.address {
    case .v4(let address): hash.absorb(UInt64(address) << 32 | UInt64(endpoint.port))
    case .v6(let high, let low, let scope):
      hash.absorb(UInt64(scope) << 32 | UInt64(endpoint.port))
      hash.absorb(high)
      hash.absorb(low)
    }
    bits = max(1, hash.finish())
  }

  /// Returns whether the host with this secret made the cookie for `endpoint` in the time slot that
  /// contains `now` or in the one before.
  package func isValid(for endpoint: Endpoint, secret: HostSecret, at now: Instant) -> Bool {
    let slot = Self.slot(at: now)
    return self == Cookie(for: endpoint, secret: secret, slot: slot)
      || self == Cookie(for: endpoint, secret: secret, slot: slot - 1)
  }

  private static func slot(at now: Instant) -> Int64 { now.nanoseconds / slotLength }
}
