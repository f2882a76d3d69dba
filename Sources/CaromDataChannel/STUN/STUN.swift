/// The constants of STUN (RFC 8489) as far as connectivity checks (RFC 8445) need them.
package enum STUN {
  /// The value in bytes 4 to 7 of every message (RFC 8489 §5).
  static let magicCookie: UInt32 = 0x2112_A442
  /// The length of the header of a message, in bytes.
  static let headerLength = 20
  /// The maximum length of a message, in bytes: the minimum MTU of IPv6. Checks of browsers have
  /// about 100 bytes.
  package static let maximumLength = 1_280
  /// The maximum number of attributes of a message.
  static let maximumAttributes = 32
  /// The maximum length of a username, in bytes (RFC 8489 §14.3).
  package static let maximumUsernameLength = 508
  /// The value with which the CRC-32 of a fingerprint is combined (RFC 8489 §14.7).
  static let fingerprintMask: UInt32 = 0x5354_554E

  /// What a message is (RFC 8489 §5), with the method Binding.
  package enum Kind: UInt16, Sendable {
    case bindingRequest = 0x0001
    case bindingIndication = 0x0011
    case bindingSuccess = 0x0101
    case bindingError = 0x0111
  }

  /// The types of attributes (RFC 8489 §18.3, RFC 8445 §16.1).
  enum Attribute {
    static let mappedAddress: UInt16 = 0x0001
    static let username: UInt16 = 0x0006
    static let messageIntegrity: UInt16 = 0x0008
    static let errorCode: UInt16 = 0x0009
    static let unknownAttributes: UInt16 = 0x000A
    static let realm: UInt16 = 0x0014
    static let nonce: UInt16 = 0x0015
    static let messageIntegritySHA256: UInt16 = 0x001C
    static let xorMappedAddress: UInt16 = 0x0020
    static let priority: UInt16 = 0x0024
    static let useCandidate: UInt16 = 0x0025
    static let fingerprint: UInt16 = 0x8028
    static let iceControlling: UInt16 = 0x802A
    /// Attributes from this one on may be ignored by a receiver that does not know them.
    static let firstOptional: UInt16 = 0x8000
  }

  /// The number with which a response names its request, 96 bits.
  package struct Transaction: Hashable, Sendable {
    package var high: UInt32
    package var low: UInt64

    package init(high: UInt32, low: UInt64) {
      self.high = high
      self.low = low
    }
  }

  /// Returns whether a datagram on a port that STUN shares with other protocols is a STUN message:
  /// it has a header, whose first byte is 0 or 1 and which has the magic cookie.
  package static func isMessage(_ datagram: Span<UInt8>) -> Bool {
    datagram.count >= headerLength && datagram[0] <= 1 && datagram.bigEndian32(at: 4) == magicCookie
  }
}
