import CaromCore

/// What a host gives a guest whose address it knows: who brings it along from there later proves
/// the address with its first datagram. The guest cannot read it, and it counts once.
package struct AddressToken: Hashable, Sendable {
  /// How many bytes it has.
  package static let length = 24
  /// How long it counts, nanoseconds: a day, as long as anybody plays on.
  package static let lifetime: Int64 = 86_400_000_000_000
  /// What tells it from a cookie: the number of no slot.
  private static let domain: UInt64 = 0x6E65_6B6F_746D_7243

  package let serial: UInt64
  /// When it ends, nanoseconds on its maker's clock.
  package let expiry: UInt64
  package let seal: UInt64

  /// The token with a number that is given out once, for `address`, from `now` on.
  package init(
    serial: UInt64, for address: IPAddress, secret: HostSecret, at now: Instant
  ) {
    self.serial = serial
    expiry = UInt64(clamping: now.nanoseconds + Self.lifetime)
    seal = Self.seal(serial, expiry, address, secret)
  }

  init(decoding reader: inout PacketReader) throws(DecodeError) {
    serial = try reader.read()
    expiry = try reader.read()
    seal = try reader.read()
  }

  /// The token of these bytes; `nil` where there are not 24.
  package init?(_ bytes: [UInt8]) {
    var reader = PacketReader(bytes.span)
    guard bytes.count == Self.length, let token = try? AddressToken(decoding: &reader) else {
      return nil
    }
    self = token
  }

  func encode(into writer: inout PacketWriter) {
    writer.write(serial)
    writer.write(expiry)
    writer.write(seal)
  }

  func write(to writer: inout FrameWriter) {
    writer.append(integer: serial)
    writer.append(integer: expiry)
    writer.append(integer: seal)
  }

  /// Whether `secret` made it for `address`, and it counts still.
  package func isValid(for address: IPAddress, secret: HostSecret, at now: Instant) -> Bool {
    now.nanoseconds < Int64(clamping: expiry)
      && seal == Self.seal(serial, expiry, address, secret)
  }

  private static func seal(
    _ serial: UInt64, _ expiry: UInt64, _ address: IPAddress, _ secret: HostSecret
  ) -> UInt64 {
    var hash = SipHash(key: secret.low, secret.high)
    hash.absorb(domain)
    hash.absorb(serial)
    hash.absorb(expiry)
    switch address {
    case .v4(let address): hash.absorb(UInt64(address))
    case .v6(let high, let low, let scope):
      hash.absorb(UInt64(scope))
      hash.absorb(high)
      hash.absorb(low)
    }
    return hash.finish()
  }
}
