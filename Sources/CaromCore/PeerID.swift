/// Who a peer is: 128 bits, drawn at random; names and addresses identify nobody.
public struct PeerID: Hashable, Sendable {
  /// The first eight bytes, most significant first.
  public let high: UInt64
  /// The last eight bytes.
  public let low: UInt64

  /// The id of these two halves.
  public init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// A new id, 128 bits from `generator`.
  public static func random(using generator: inout some RandomNumberGenerator) -> PeerID {
    PeerID(high: generator.next(), low: generator.next())
  }

  /// The longest display name, UTF-8 bytes: it has to fit one DNS label (RFC 1035 §2.3.4).
  public static let maximumNameLength = 63
}

extension PeerID: Comparable {
  /// By value, as an unsigned 128-bit number.
  public static func < (a: PeerID, b: PeerID) -> Bool { (a.high, a.low) < (b.high, b.low) }
}

extension PeerID: CustomStringConvertible {
  /// 32 lower-case hexadecimal digits.
  public var description: String {
    [high, low].map { half in
      let digits = String(half, radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }.joined()
  }

  /// Reads 32 hexadecimal digits; `nil` for anything else.
  public init?(_ text: some StringProtocol) {
    guard text.utf8.count == 32, text.allSatisfy(\.isHexDigit),
      let high = UInt64(text.prefix(16), radix: 16), let low = UInt64(text.suffix(16), radix: 16)
    else { return nil }
    self.init(high: high, low: low)
  }
}
