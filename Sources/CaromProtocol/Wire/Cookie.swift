import CaromCore

/// What a host says to somebody whose address is not proven: who says it back gets mail there.
/// It is made from the host's secret, so that nothing is remembered for it.
package struct Cookie: Hashable, Sendable {
  /// How long one slot lasts, nanoseconds: 16 s. A cookie counts in its slot and the next.
  package static let slot: Int64 = 16_000_000_000

  /// 64 bits, never 0.
  package let bits: UInt64

  /// The cookie of these bits; `nil` for 0, which says "none" on the wire.
  package init?(bits: UInt64) {
    guard bits != 0 else { return nil }
    self.bits = bits
  }

  /// The cookie for `endpoint` now.
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

  /// Whether it is what `secret` gave `endpoint` in this slot or the one before.
  package func isValid(for endpoint: Endpoint, secret: HostSecret, at now: Instant) -> Bool {
    let slot = Self.slot(at: now)
    return self == Cookie(for: endpoint, secret: secret, slot: slot)
      || self == Cookie(for: endpoint, secret: secret, slot: slot - 1)
  }

  private static func slot(at now: Instant) -> Int64 { now.nanoseconds / slot }
}
