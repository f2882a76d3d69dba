/// The record that says until when a service in a domain is offered, and which other records belong
/// to it. It stands beside the service, under a name with one more label, because most name servers
/// have no leases of their own (RFC 9664).
package struct Lease: Hashable, Sendable {
  /// The label under which the record stands, before the service's name.
  static let label = "_lease"
  /// The maximum number of subtypes of a lease that is read, which bounds a removal's length.
  static let subtypeLimit = Registration.subtypeLimit

  /// The time at which the lease ends, in seconds since the beginning of 1970 by the clock of the
  /// zone's server.
  package var expires: UInt64
  /// The leftmost label of the service's host, whose addresses belong to this service alone.
  package var host: [UInt8]
  /// The subtypes under which the service is listed.
  package var subtypes: [[UInt8]]

  /// Creates a lease.
  package init(expires: UInt64, host: [UInt8], subtypes: [[UInt8]] = []) {
    self.expires = expires
    self.host = host
    self.subtypes = subtypes
  }

  /// Returns the name under which the lease of a service stands.
  package static func name(of instance: Name) throws(NameError) -> Name {
    try instance.prefixed(by: label)
  }

  /// The strings of the TXT record: "expires=" and the time as a decimal number, "host=" and the
  /// label, and "sub=" and a label for each subtype.
  package var encoded: [UInt8] {
    let strings =
      [Array("expires=\(expires)".utf8), Array("host=".utf8) + host]
      + subtypes.map { Array("sub=".utf8) + $0 }
    return strings.flatMap { [UInt8($0.count)] + $0 }
  }

  /// Creates a lease from the strings of a TXT record. Returns nil if the record is not a lease.
  package init?(decoding bytes: [UInt8]) {
    var rest = bytes[...]
    var expires: UInt64?
    var host: [UInt8]?
    var subtypes: [[UInt8]] = []
    while let length = rest.popFirst() {
      guard Int(length) <= rest.count else { return nil }
      let string = rest.prefix(Int(length))
      rest = rest.dropFirst(Int(length))
      guard let equals = string.firstIndex(of: UInt8(ascii: "=")) else { return nil }
      let value = Array(string[(equals + 1)...])
      switch String(decoding: string[..<equals], as: UTF8.self) {
      case "expires" where expires == nil: expires = Self.number(value)
      case "host" where host == nil && Self.isLabel(value): host = value
      case "sub" where subtypes.count < Self.subtypeLimit && Self.isLabel(value):
        subtypes.append(value)
      default: return nil
      }
    }
    guard let expires, let host else { return nil }
    self.init(expires: expires, host: host, subtypes: subtypes)
  }

  private static func number(_ digits: [UInt8]) -> UInt64? {
    guard digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return UInt64(String(decoding: digits, as: UTF8.self))
  }

  private static func isLabel(_ bytes: [UInt8]) -> Bool {
    (1...Name.maximumLabelLength).contains(bytes.count)
  }

  /// Returns whether the lease has ended, given the server's time in seconds since the beginning of
  /// 1970.
  package func hasExpired(at serverTime: UInt64) -> Bool { serverTime > expires }
}
