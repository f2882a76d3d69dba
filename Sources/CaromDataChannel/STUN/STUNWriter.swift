import CaromCore

/// Writes STUN messages into storage that is reused. Each message ends with MESSAGE-INTEGRITY and
/// FINGERPRINT.
package struct STUNWriter: Sendable {
  private var bytes: [UInt8] = []

  package init() {}

  /// The message that was written last.
  package var message: Span<UInt8> {
    @_lifetime(borrow self) get { bytes.span }
  }

  /// Writes a request of a controlling agent (RFC 8445 §7.1).
  ///
  /// - Parameters:
  ///   - username: "receiver:sender".
  ///   - tieBreaker: The number with which agents settle which of them controls.
  ///   - isNominating: Whether the path of the request is to be used.
  ///   - key: The password of the receiver.
  package mutating func writeBindingRequest(
    _ transaction: STUN.Transaction, username: Span<UInt8>, priority: UInt32, tieBreaker: UInt64,
    isNominating: Bool, key: Span<UInt8>
  ) {
    precondition(
      username.count <= STUN.maximumUsernameLength, "a username has at most 508 bytes")
    begin(.bindingRequest, transaction)
    appendHeader(STUN.Attribute.username, length: username.count)
    bytes.append(copying: username)
    bytes.pad(from: 0)
    appendHeader(STUN.Attribute.priority, length: 4)
    bytes.appendBigEndian(priority)
    appendHeader(STUN.Attribute.iceControlling, length: 8)
    bytes.appendBigEndian(tieBreaker)
    if isNominating { appendHeader(STUN.Attribute.useCandidate, length: 0) }
    finish(key: key)
  }

  /// Writes the response to a request that came from `mapped`. `key` is the password of the sender
  /// of the response.
  package mutating func writeBindingSuccess(
    to transaction: STUN.Transaction, mapped: Endpoint, key: Span<UInt8>
  ) {
    begin(.bindingSuccess, transaction)
    let port = mapped.port ^ UInt16(STUN.magicCookie >> 16)
    switch mapped.address {
    case .v4(let value):
      appendHeader(STUN.Attribute.xorMappedAddress, length: 8)
      bytes.appendBigEndian(1 as UInt16)
      bytes.appendBigEndian(port)
      bytes.appendBigEndian(value ^ STUN.magicCookie)
    case .v6(let high, let low, _):
      appendHeader(STUN.Attribute.xorMappedAddress, length: 20)
      bytes.appendBigEndian(2 as UInt16)
      bytes.appendBigEndian(port)
      bytes.appendBigEndian(high ^ (UInt64(STUN.magicCookie) << 32 | UInt64(transaction.high)))
      bytes.appendBigEndian(low ^ transaction.low)
    }
    finish(key: key)
  }

  /// Writes the error response 420, which names the unknown attributes of `request`
  /// (RFC 8489 §6.3.1).
  mutating func writeUnknownAttributes(of request: borrowing STUNMessage, key: Span<UInt8>) {
    begin(.bindingError, request.transaction)
    let reason: StaticString = "Unknown Attribute"
    appendHeader(STUN.Attribute.errorCode, length: 4 + reason.utf8CodeUnitCount)
    bytes.appendBigEndian(0x0414 as UInt32)
    bytes.append(contentsOf: "\(reason)".utf8)
    bytes.pad(from: 0)
    appendHeader(STUN.Attribute.unknownAttributes, length: 2 * request.unknownCount)
    for index in 0..<request.unknownCount {
      bytes.appendBigEndian(request.unknownAttribute(index))
    }
    bytes.pad(from: 0)
    finish(key: key)
  }

  private mutating func begin(_ kind: STUN.Kind, _ transaction: STUN.Transaction) {
    bytes.removeAll(keepingCapacity: true)
    bytes.appendBigEndian(kind.rawValue)
    bytes.appendBigEndian(0 as UInt16)
    bytes.appendBigEndian(STUN.magicCookie)
    bytes.appendBigEndian(transaction.high)
    bytes.appendBigEndian(transaction.low)
  }

  private mutating func appendHeader(_ type: UInt16, length: Int) {
    bytes.appendBigEndian(type)
    bytes.appendBigEndian(UInt16(length))
  }

  private mutating func finish(key: Span<UInt8>) {
    writeLength(following: 4 + SHA1.hashLength)
    var hash = HMACSHA1(key: key)
    hash.absorb(bytes.span)
    let code = hash.finish()
    appendHeader(STUN.Attribute.messageIntegrity, length: SHA1.hashLength)
    bytes.append(copying: code.span)
    writeLength(following: 8)
    let fingerprint = CRC32.ethernet.checksum(of: bytes.span) ^ STUN.fingerprintMask
    appendHeader(STUN.Attribute.fingerprint, length: 4)
    bytes.appendBigEndian(fingerprint)
  }

  /// Writes the length that the message has with `count` more bytes.
  private mutating func writeLength(following count: Int) {
    bytes.overwriteBigEndian(UInt16(bytes.count + count - STUN.headerLength), at: 2)
  }
}
