import CaromCore

/// A received STUN message, whose structure and fingerprint are right. It refers to the bytes of
/// the datagram. Nothing in it is authentic before `isAuthentic(key:)` has returned true.
package struct STUNMessage: ~Escapable {
  /// The maximum number of unknown attributes that are kept, and reported to the sender.
  static let maximumUnknown = 4

  private let bytes: Span<UInt8>
  /// What the message is.
  package let kind: STUN.Kind
  /// The number of the request.
  package let transaction: STUN.Transaction
  /// Whether the sender nominates the path on which the message arrived (RFC 8445 §7.1.2).
  package private(set) var usesCandidate = false
  /// The priority that a candidate learned from this request would have (RFC 8445 §7.1.1).
  package private(set) var priority: UInt32?
  /// The address from which the server received the request that this message answers.
  package private(set) var mappedAddress: Endpoint?
  /// The code of an error response, 300 to 699.
  package private(set) var errorCode: Int?
  private var usernameRange = 0..<0
  /// The offset of MESSAGE-INTEGRITY, or 0.
  private var integrityOffset = 0
  private var isFinished = false
  private var unknown = InlineArray<4, UInt16>(repeating: 0)
  /// The number of unknown attributes that a receiver has to comprehend, at most `maximumUnknown`.
  private(set) var unknownCount = 0

  /// Reads a message. Throws if it is malformed, is not of the method Binding, or has a wrong
  /// fingerprint.
  @_lifetime(copy datagram)
  package init(_ datagram: Span<UInt8>) throws(DecodeError) {
    guard STUN.isMessage(datagram) else { throw .invalid(what: "STUN header") }
    guard datagram.count <= STUN.maximumLength else {
      throw .tooLarge(length: UInt64(datagram.count), limit: UInt64(STUN.maximumLength))
    }
    let length = Int(datagram.bigEndian16(at: 2))
    guard length == datagram.count - STUN.headerLength, length & 3 == 0 else {
      throw .invalid(what: "STUN length")
    }
    guard let kind = STUN.Kind(rawValue: datagram.bigEndian16(at: 0)) else {
      throw .invalid(what: "STUN type")
    }
    bytes = datagram
    self.kind = kind
    transaction = STUN.Transaction(
      high: datagram.bigEndian32(at: 8), low: datagram.bigEndian64(at: 12))
    try readAttributes()
  }

  /// The username: "receiver:sender" in a request (RFC 8445 §7.2.2). Empty if there is none.
  package var username: Span<UInt8> {
    @_lifetime(copy self) get { bytes.extracting(usernameRange) }
  }

  /// The part of the username before the colon: the fragment of the receiver of a request. Nil if
  /// there is no colon.
  package var receiverFragment: Span<UInt8>? {
    @_lifetime(copy self) get {
      for index in usernameRange where bytes[index] == UInt8(ascii: ":") {
        return bytes.extracting(usernameRange.lowerBound..<index)
      }
      return nil
    }
  }

  /// The part of the username after the first colon: the fragment of the sender of a request.
  package var senderFragment: Span<UInt8>? {
    @_lifetime(copy self) get {
      for index in usernameRange where bytes[index] == UInt8(ascii: ":") {
        return bytes.extracting(index + 1..<usernameRange.upperBound)
      }
      return nil
    }
  }

  /// An unknown attribute that a receiver has to comprehend; `index` is less than `unknownCount`.
  func unknownAttribute(_ index: Int) -> UInt16 { unknown[index] }

  /// Returns whether the message has a MESSAGE-INTEGRITY made with `key`, the password of the
  /// receiver of a request and of the sender of a response. The time that this takes does not
  /// depend on where the codes differ.
  package func isAuthentic(key: Span<UInt8>) -> Bool {
    guard integrityOffset > 0 else { return false }
    var hash = HMACSHA1(key: key)
    hash.absorb(bytes.extracting(0..<2))
    // The length counts up to the end of this attribute, which others may follow (§14.5).
    let length = integrityOffset + 4 + SHA1.hashLength - STUN.headerLength
    hash.absorb(UInt8(truncatingIfNeeded: length >> 8))
    hash.absorb(UInt8(truncatingIfNeeded: length))
    hash.absorb(bytes.extracting(4..<integrityOffset))
    let code = hash.finish()
    var difference: UInt8 = 0
    for index in code.indices { difference |= code[index] ^ bytes[integrityOffset + 4 + index] }
    return difference == 0
  }

  private mutating func readAttributes() throws(DecodeError) {
    var offset = STUN.headerLength
    var count = 0
    while offset < bytes.count {
      // The length is a multiple of four, so the header of an attribute is always whole.
      let length = Int(bytes.bigEndian16(at: offset + 2))
      let end = offset + 4 + padded(length)
      guard end <= bytes.count else {
        throw .truncated(wanted: length, remaining: bytes.count - offset - 4)
      }
      count += 1
      guard count <= STUN.maximumAttributes, !isFinished else {
        throw .invalid(what: "STUN attributes")
      }
      try readAttribute(bytes.bigEndian16(at: offset), offset + 4..<offset + 4 + length)
      offset = end
    }
  }

  private mutating func readAttribute(
    _ type: UInt16, _ value: Range<Int>
  ) throws(DecodeError) {
    if type == STUN.Attribute.fingerprint { return try checkFingerprint(value) }
    // What follows the integrity is not protected by it, and therefore ignored (§14.5).
    guard integrityOffset == 0 else { return }
    switch type {
    case STUN.Attribute.username:
      guard value.count <= STUN.maximumUsernameLength else { throw .invalid(what: "USERNAME") }
      if usernameRange.isEmpty { usernameRange = value }
    case STUN.Attribute.messageIntegrity:
      guard value.count == SHA1.hashLength else { throw .invalid(what: "MESSAGE-INTEGRITY") }
      integrityOffset = value.lowerBound - 4
    case STUN.Attribute.priority:
      guard value.count == 4 else { throw .invalid(what: "PRIORITY") }
      priority = bytes.bigEndian32(at: value.lowerBound)
    case STUN.Attribute.useCandidate: usesCandidate = true
    case STUN.Attribute.xorMappedAddress: try readMappedAddress(value)
    case STUN.Attribute.errorCode:
      guard value.count >= 4 else { throw .invalid(what: "ERROR-CODE") }
      errorCode = Int(bytes[value.lowerBound + 2] & 7) * 100 + Int(bytes[value.lowerBound + 3])
    case STUN.Attribute.mappedAddress, STUN.Attribute.unknownAttributes, STUN.Attribute.realm,
      STUN.Attribute.nonce, STUN.Attribute.messageIntegritySHA256:
      break
    case STUN.Attribute.firstOptional...: break
    default:
      guard unknownCount < Self.maximumUnknown else { return }
      unknown[unknownCount] = type
      unknownCount += 1
    }
  }

  /// Checks the fingerprint, which is the last attribute (§14.7).
  private mutating func checkFingerprint(_ value: Range<Int>) throws(DecodeError) {
    let checked = bytes.extracting(0..<value.lowerBound - 4)
    guard value.count == 4,
      bytes.bigEndian32(at: value.lowerBound)
        == CRC32.ethernet.checksum(of: checked) ^ STUN.fingerprintMask
    else { throw .invalid(what: "FINGERPRINT") }
    isFinished = true
  }

  private mutating func readMappedAddress(_ value: Range<Int>) throws(DecodeError) {
    let start = value.lowerBound
    guard value.count >= 8 else { throw .invalid(what: "XOR-MAPPED-ADDRESS") }
    let port = bytes.bigEndian16(at: start + 2) ^ UInt16(STUN.magicCookie >> 16)
    let first = bytes.bigEndian32(at: start + 4) ^ STUN.magicCookie
    switch (bytes[start + 1], value.count) {
    case (1, 8): mappedAddress = Endpoint(.v4(first), port: port)
    case (2, 20):
      let second = bytes.bigEndian32(at: start + 8) ^ transaction.high
      let low = bytes.bigEndian64(at: start + 12) ^ transaction.low
      let high = UInt64(first) << 32 | UInt64(second)
      mappedAddress = Endpoint(.v6(high: high, low: low, scope: 0), port: port)
    default: throw .invalid(what: "XOR-MAPPED-ADDRESS")
    }
  }
}
