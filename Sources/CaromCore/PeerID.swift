/// The identity of a peer: a random 128-bit number. Peers' names and addresses may change and are
/// not unique.
public struct PeerID: Hashable, Sendable {
  /// The first eight bytes, as a big-endian number.
  public let high: UInt64
  /// The last eight bytes, as a big-endian number.
  public let low: UInt64

  /// Creates an id from its two halves.
  public init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// Returns a new id with 128 bits drawn from `generator`.
  public static func random(using generator: inout some RandomNumberGenerator) -> PeerID {
    PeerID(high: generator.next(), low: generator.next())
  }

  /// The maximum length of a peer's display name, in UTF-8 bytes: a name must fit in one DNS label
  /// (RFC 1035 §2.3.4).
  public static let maximumNameLength = 63
}

extension PeerID: Comparable {
  /// Orders ids as unsigned 128-bit numbers.
  public static func < (a: PeerID, b: PeerID) -> Bool { (a.high, a.low) < (b.high, b.low) }
}

extension PeerID: CustomStringConvertible {
  /// The id as 32 lower-case hexadecimal digits.
  public var description: String {
    [high, low].map { half in
      let digits = String(half, radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }.joined()
  }

  /// Creates an id from 32 hexadecimal digits. Returns nil for any other text.
  public init?(_ text: some StringProtocol) {
    guard text.utf8.count == 32, text.allSatisfy(\.isHexDigit),
      let high = UInt64(text.prefix(16), radix: 16), let low = UInt64(text.suffix(16), radix: 16)
    else { return nil }
    self.init(high: high, low: low)
  }
}
