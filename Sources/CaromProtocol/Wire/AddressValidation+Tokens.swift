import CaromCore

/// A value that a host gives to a client with a validated address. The client returns the token in
/// the first datagram of a later connection, from the same address but any port, and thus proves
/// its address without a round trip (compare RFC 9000 §8.1.3). A token is opaque to the client and
/// valid for one use.
package struct AddressToken: Hashable, Sendable {
  /// The length of an encoded token in bytes.
  package static let length = 24
  /// The time for which a token is valid, in nanoseconds: one day.
  package static let lifetime: Int64 = 86_400_000_000_000
  /// The first word of the input from which a token's hash is computed. In a cookie's hash, the
  /// first word is the number of a time slot; no time slot has this number, so a cookie can never
  /// pass as a token.
  private static let domain: UInt64 = 0x6E65_6B6F_746D_7243

  /// The token's number, unique among the tokens of its host.
  package let serial: UInt64
  /// The last time at which the token is valid, in nanoseconds on its host's clock.
  package let expiry: UInt64
  /// The keyed hash of the serial number, the expiry and the address.
  package let seal: UInt64

  /// Creates a token for `address` that is valid for one day from `now`. No two tokens of a host
  /// may have the same `serial`.
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

  /// Creates a token from its encoded bytes. Returns nil if there are not exactly 24.
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

  /// Returns whether the host with this secret made the token for `address` and the token has not
  /// expired at `now`.
  package func isValid(for address: IPAddress, secret: HostSecret, at now: Instant) -> Bool {
    now.nanoseconds <= Int64(clamping: expiry)
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

/// A token that saves a client one round trip when it joins the same host again. The host issues
/// the token during a connection. The token is valid once, for one day, from the same address.
///
/// Joining with a token that is no longer valid still succeeds. Such a join takes two round trips,
/// like a join without one.
public struct JoinToken: Hashable, Sendable {
  /// The host that issued the token.
  public let host: Endpoint
  /// The token's 24 bytes, opaque to the client.
  public var bytes: [UInt8] {
    var writer = PacketWriter(capacity: AddressToken.length)
    token.encode(into: &writer)
    return writer.bytes
  }

  package let token: AddressToken

  package init(_ token: AddressToken, of host: Endpoint) {
    self.host = host
    self.token = token
  }

  /// Creates a token from its stored bytes. Returns nil if there are not exactly 24.
  public init?(_ bytes: [UInt8], of host: Endpoint) {
    guard let token = AddressToken(bytes) else { return nil }
    self.init(token, of: host)
  }
}

#if !hasFeature(Embedded)
  extension JoinToken: CustomStringConvertible, CustomReflectable {
    /// A string that names the host and does not show the token; `bytes` shows it.
    public var description: String { "join token for \(host)" }
    /// A mirror that contains only the host, so that `dump` does not show the token.
    public var customMirror: Mirror { Mirror(self, children: ["host": host]) }
  }
#endif
