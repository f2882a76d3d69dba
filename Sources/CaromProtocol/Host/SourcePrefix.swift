import CaromCore

/// The part of an address that usually belongs to one owner: an IPv4 address, or the first 64 bits
/// of an IPv6 address. What strangers may use is limited for each of them.
package enum SourcePrefix: Hashable, Sendable {
  case v4(UInt32)
  case v6(UInt64)

  /// Creates the prefix of an address. Returns nil for a loopback address, which all processes of
  /// this computer share.
  package init?(_ address: IPAddress) {
    guard !address.isLoopback else { return nil }
    switch address {
    case .v4(let value): self = .v4(value)
    case .v6(let high, _, _): self = .v6(high)
    }
  }
}
