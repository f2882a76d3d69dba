import CaromCore

/// A secret that a client and a name server share, to sign their messages (RFC 8945).
///
/// The secret itself stands only in the function that computes the authentication codes, so that
/// this module needs no cryptography, and neither a log nor an error can show the secret.
package struct TransactionKey: Sendable {
  /// Returns the HMAC-SHA256 of a message, 32 bytes.
  package typealias Authenticator = @Sendable (_ message: [UInt8]) -> [UInt8]

  /// The key's name, by which the server knows it.
  package let name: Name
  private let authenticate: Authenticator

  /// Creates a key from its name and the function that computes authentication codes with it.
  package init(name: Name, authenticate: @escaping Authenticator) {
    self.name = name
    self.authenticate = authenticate
  }

  /// A request with its signature.
  package struct SignedRequest: Hashable, Sendable {
    /// The message in wire format.
    package var bytes: [UInt8]
    /// The authentication code, which the response's code covers as well (RFC 8945 §5.3).
    package var code: [UInt8]
  }

  /// What the signature of a response proves.
  package enum Verdict: Hashable, Sendable {
    /// The server sent the response to this request.
    case verified(TransactionSignature)
    /// The server sent the response, but at a time that differs too much from this host's time.
    case clocksDiffer(TransactionSignature)
    /// Anybody may have sent the response. If it has a TSIG record, `error` is that record's error.
    case unproven(error: UInt16?)
  }

  /// Returns the HMAC-SHA256 of `message`.
  package func authenticationCode(of message: [UInt8]) -> [UInt8] { authenticate(message) }

  /// The length of the record that a signature adds to a request, in bytes.
  var signatureLength: Int {
    TransactionSignature(key: name, time: 0, originalID: 0).encoded.count
      + TransactionSignature.codeLength
  }

  /// Signs a message that has no signature yet. `time` is in seconds since the beginning of 1970.
  package func sign(_ message: [UInt8], at time: UInt64) -> SignedRequest {
    var signature = TransactionSignature(
      key: name, time: time, originalID: UInt16(message[0]) << 8 | UInt16(message[1]))
    signature.code = authenticate(message + signature.coveredFields)
    var bytes = message + signature.encoded
    Self.changeAdditionalCount(of: &bytes, by: 1)
    return SignedRequest(bytes: bytes, code: signature.code)
  }

  /// Verifies the response to the request that has the authentication code `request` (RFC 8945
  /// §5.3, §5.4). `time` is the present time in seconds since the beginning of 1970.
  package func verify(
    _ response: [UInt8], to request: [UInt8], at time: UInt64
  ) -> Verdict {
    guard let (signature, covered) = Self.signature(of: response, to: request) else {
      return .unproven(error: nil)
    }
    guard signature.key == name, signature.algorithm == TransactionSignature.algorithm,
      signature.code.count == TransactionSignature.codeLength,
      Self.areEqual(signature.code, authenticate(covered))
    else { return .unproven(error: signature.error) }
    let difference = max(time, signature.serverTime) - min(time, signature.serverTime)
    let isTimely = difference <= UInt64(TransactionSignature.tolerance)
    let isRefused = signature.error == TransactionSignature.Failure.badTime.rawValue
    return isTimely && !isRefused ? .verified(signature) : .clocksDiffer(signature)
  }

  /// Returns the signature of a response and the bytes that its authentication code covers, or nil
  /// if the response has no well-formed signature.
  private static func signature(
    of response: [UInt8], to request: [UInt8]
  ) -> (TransactionSignature, covered: [UInt8])? {
    var reader = MessageReader(response.span, limit: Message.maximumStreamLength)
    guard let (signature, offset) = (try? reader.readSignature()) ?? nil else { return nil }
    var message = Array(response[..<offset])
    message[0] = UInt8(signature.originalID >> 8)
    message[1] = UInt8(truncatingIfNeeded: signature.originalID)
    changeAdditionalCount(of: &message, by: -1)
    // The length of the request's code, in two bytes, comes first.
    let head = [0, UInt8(request.count)] + request
    return (signature, head + message + signature.coveredFields)
  }

  private static func changeAdditionalCount(of message: inout [UInt8], by step: Int) {
    let count = Int(message[10]) << 8 + Int(message[11]) + step
    message[10] = UInt8(truncatingIfNeeded: count >> 8)
    message[11] = UInt8(truncatingIfNeeded: count)
  }

  /// Compares two codes in a time that does not depend on where they differ.
  private static func areEqual(_ a: [UInt8], _ b: [UInt8]) -> Bool {
    guard a.count == b.count else { return false }
    return zip(a, b).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
  }
}

extension TransactionKey: CustomStringConvertible, CustomReflectable {
  /// The key's name. The secret is never shown.
  package var description: String { "key \(name)" }
  /// A mirror without children.
  package var customMirror: Mirror { Mirror(self, children: []) }
}
