import CUVLoop

/// The reasons why a client has ended a TLS connection, or the server has not let it begin.
public enum TLSFailure: Error, Hashable, Sendable {
  /// The server's certificate comes from no authority that this side trusts.
  case untrusted
  /// The server's certificate is not for the name or the address at which it was reached.
  case otherName
  /// The server's certificate is not valid any more.
  case expired
  /// The server's certificate is not valid yet.
  case notYetValid
  /// The server's certificate, or that of an issuer, cannot be used, for this reason of OpenSSL.
  case unusable(code: Int32)
  /// What answers does not speak TLS.
  case missing
  /// Nothing has answered the first message, which some servers without TLS do not understand.
  case unanswered
  /// The two sides have no version or no cipher of TLS in common. Older servers say so, too, when
  /// they want a certificate of the client.
  case incompatible
  /// The server wants a certificate of the client.
  case certificateRequired
  /// The server does not accept the certificate of the client.
  case certificateRefused
  /// The server has violated the protocol.
  case violation
}

extension TLSFailure: CustomStringConvertible {
  /// A line for users that says what happened and what to do.
  public var description: String {
    switch self {
    case .untrusted:
      "the server's certificate comes from no trusted authority: name the file of the authority"
    case .otherName:
      "the server's certificate is for other names: use one of them, or a certificate with this one"
    case .expired: "the server's certificate has expired: renew it, or check this computer's clock"
    case .notYetValid: "the server's certificate is not valid yet: check this computer's clock"
    case .unusable(let code):
      "the server's certificate cannot be used (X509 error \(code)): make another one"
    case .missing: "the server does not speak TLS on this port: use its port for TLS"
    case .unanswered:
      "nothing has answered in TLS: check that the port is one for TLS, and the server"
    case .incompatible:
      "the server has no version or cipher of TLS in common with this side, or wants a certificate "
        + "of it: permit TLS 1.2 or later there"
    case .certificateRequired: "the server wants a certificate of this side: give one"
    case .certificateRefused:
      "the server does not accept the certificate of this side: use one of its authority"
    case .violation: "the server has violated the protocol of TLS: check what listens there"
    }
  }
}

extension TLSFailure {
  /// The errors of OpenSSL (X509_V_ERR_…) for a certificate whose issuer is not trusted: it is not
  /// there, or has another key.
  private static let untrustedCodes: Set<Int32> = [2, 7, 18, 19, 20, 21, 24, 27, 30]

  /// Creates the failure for a fault of the C code.
  init(fault: Int32) {
    switch Int(fault) {
    case CUV_TLS_MISSING: self = .missing
    case CUV_TLS_INCOMPATIBLE: self = .incompatible
    case CUV_TLS_CERTIFICATE_REQUIRED: self = .certificateRequired
    case CUV_TLS_CERTIFICATE_REFUSED: self = .certificateRefused
    case 9: self = .notYetValid
    case 10: self = .expired
    case 62, 64: self = .otherName
    default:
      if Self.untrustedCodes.contains(fault) {
        self = .untrusted
      } else {
        self = fault > 0 ? .unusable(code: fault) : .violation
      }
    }
  }
}
