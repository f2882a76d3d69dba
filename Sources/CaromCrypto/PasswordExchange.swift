/// One side of CPace (draft-irtf-cfrg-cpace-21, suite CPACE-RISTR255-SHA512, initiator and
/// responder): two sides that know the same password derive a key that nobody else can compute.
///
/// Somebody who answers with a guess learns only whether that one guess was right, so even a short
/// password is safe as long as the number of tries is limited. A listener learns nothing.
package struct PasswordExchange: Sendable {
  /// The length in bytes of the shares that the sides send to each other.
  package static let shareLength = Ristretto255.length
  private static let domain = Array("CPaceRistretto255".utf8)

  private let isInitiator: Bool
  private let sessionID: [UInt8]
  private let scalar: SecretBytes
  private let associatedData: [UInt8]
  /// The bytes to send to the other side.
  package let share: [UInt8]

  /// Creates one side of an exchange.
  ///
  /// - Parameters:
  ///   - password: The password, which both sides know.
  ///   - channel: The names of both sides and other public facts, the same on both sides.
  ///   - sessionID: Public bytes, the same on both sides and different in each exchange.
  ///   - associatedData: Public bytes of this side, which are sent with the share.
  ///   - isInitiator: Whether this side sends its share first.
  ///   - randomness: 64 random bytes, which must not be used for anything else.
  package init(
    password: SecretBytes, channel: [UInt8], sessionID: [UInt8], associatedData: [UInt8] = [],
    isInitiator: Bool, randomness: SecretBytes
  ) {
    self.init(
      password: password, channel: channel, sessionID: sessionID, associatedData: associatedData,
      isInitiator: isInitiator, scalar: Ristretto255.scalar(from: randomness))
  }

  /// Creates one side of an exchange with its secret scalar.
  init(
    password: SecretBytes, channel: [UInt8], sessionID: [UInt8], associatedData: [UInt8],
    isInitiator: Bool, scalar: SecretBytes
  ) {
    self.isInitiator = isInitiator
    self.sessionID = sessionID
    self.scalar = scalar
    self.associatedData = associatedData
    let generator = Self.makeGenerator(password, channel: channel, sessionID: sessionID)
    guard let share = Ristretto255.multiply(generator, by: scalar) else {
      preconditionFailure("the randomness of a password exchange must not be zeros")
    }
    self.share = share.reveal()
  }

  /// Returns the key of 64 bytes, given the other side's share and its associated data. Returns nil
  /// if the share is invalid. Whether the key is the same on both sides shows only when it is used.
  package func makeKey(share other: [UInt8], associatedData data: [UInt8] = []) -> SecretBytes? {
    guard let secret = Ristretto255.multiply(other, by: scalar) else { return nil }
    let own = Self.prefixed(share) + Self.prefixed(associatedData)
    let theirs = Self.prefixed(other) + Self.prefixed(data)
    var input =
      Self.prefixed(Self.domain + Array("_ISK".utf8)) + Self.prefixed(sessionID)
      + Self.prefixed(secret.reveal())
    input += isInitiator ? own + theirs : theirs + own
    return SHA512.hash(SecretBytes(moving: &input))
  }

  /// Returns the group element that the password stands for.
  static func makeGenerator(
    _ password: SecretBytes, channel: [UInt8], sessionID: [UInt8]
  ) -> [UInt8] {
    var input = prefixed(domain) + prefixed(password.reveal())
    // The padding lets the password alone fill the hash function's first block, so that the time to
    // hash the rest does not depend on it.
    let padding = max(0, SHA512.blockLength - 1 - input.count)
    input += prefixed([UInt8](repeating: 0, count: padding))
    input += prefixed(channel) + prefixed(sessionID)
    return Ristretto255.element(from: SHA512.hash(SecretBytes(moving: &input)).reveal())
  }

  /// Returns `bytes` preceded by their length, which is encoded as an unsigned LEB128 number.
  private static func prefixed(_ bytes: [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    var rest = bytes.count
    while rest >= 0x80 {
      result.append(UInt8(rest & 0x7F) | 0x80)
      rest >>= 7
    }
    result.append(UInt8(rest))
    return result + bytes
  }
}
