import CUVLoop
import CaromCore

/// A certificate and its private key, with which a host serves `https` and `wss`.
///
/// Unchecked: OpenSSL allows several threads to use the context, which is not changed after `init`.
@safe public final class TLSCertificate: @unchecked Sendable {
  /// The maximum length of each file, in bytes.
  public static let fileLimit = 1 << 20

  let context: OpaquePointer

  /// Reads the certificate from `certificateFile` and its key from `keyFile`. Blocks while it
  /// reads.
  ///
  /// Both files are in the PEM format, as `openssl req` or a certificate authority makes them. The
  /// issuers of the certificate follow it in the same file, the issuer of each after it. The key
  /// has no passphrase.
  public convenience init(certificateFile: String, keyFile: String) throws(TLSCertificateError) {
    try self.init(
      certificate: Self.read(certificateFile), named: certificateFile, key: Self.read(keyFile),
      named: keyFile)
  }

  /// Creates a certificate from the contents of its files. Errors mention the files by `path` and
  /// `keyPath`.
  package init(
    certificate: [UInt8], named path: String, key: [UInt8], named keyPath: String
  ) throws(TLSCertificateError) {
    var out: OpaquePointer?
    let status = unsafe cuv_certificate_create(certificate, certificate.count, key, key.count, &out)
    try Self.check(status, path, keyPath)
    unsafe context = out!
  }

  /// Throws what a status of the C code means. Errors mention the files by `path` and `keyPath`.
  static func check(
    _ status: Int32, _ path: String, _ keyPath: String
  ) throws(TLSCertificateError) {
    switch Int(status) {
    case 0: break
    case CUV_CERTIFICATE_MALFORMED: throw .malformedCertificate(path: path)
    case CUV_CERTIFICATE_WEAK: throw .weakCertificate(path: path)
    case CUV_CERTIFICATE_KEY_MALFORMED: throw .malformedKey(path: keyPath)
    case CUV_CERTIFICATE_KEY_ENCRYPTED: throw .encryptedKey(path: keyPath)
    case CUV_CERTIFICATE_KEY_MISMATCH: throw .keyMismatch(certificatePath: path, keyPath: keyPath)
    default:
      throw .cannotRead(path: path, TransportError(status: status, "prepare a certificate"))
    }
  }

  /// The host names in the certificate (its subject alternative names), which may begin with a
  /// wildcard, as in "*.game.example".
  public var names: [String] {
    var names: [String] = []
    while true {
      var length = 0
      let name = unsafe [CChar](unsafeUninitializedCapacity: Self.longestName) {
        unsafe length = cuv_certificate_name(context, names.count, $0.baseAddress!, $0.count)
        $1 = min(length, $0.count)
      }
      guard length > 0 else { return names }
      names.append(String(decoding: name.map(UInt8.init(bitPattern:)), as: UTF8.self))
    }
  }

  /// The maximum length of a host name, in bytes (RFC 1035 §2.3.4). Longer ones are cut.
  private static let longestName = 255

  /// Returns whether the certificate is for the host name, as one of its names or by a wildcard.
  package func covers(_ name: String) -> Bool {
    var name = name
    return name.withUTF8 { bytes in
      unsafe bytes.withMemoryRebound(to: CChar.self) {
        unsafe $0.count > 0 && cuv_certificate_covers(context, $0.baseAddress!, $0.count)
      }
    }
  }

  deinit { unsafe cuv_certificate_destroy(context) }

  private static func read(_ path: String) throws(TLSCertificateError) -> [UInt8] {
    do throws(PrivateFile.Failure) {
      return try PrivateFile.content(of: path, limit: fileLimit, isSecret: false)
    } catch { throw .cannotRead(path: path, error) }
  }
}

/// The reasons why a certificate cannot be used.
public enum TLSCertificateError: Error, Sendable {
  /// The file of the certificate or of the key is missing or cannot be read.
  case cannotRead(path: String, _ reason: any Error)
  /// The file does not begin with a certificate, or one of the issuers after it is damaged.
  case malformedCertificate(path: String)
  /// The certificate, or that of an issuer, is too weak for OpenSSL: its key is too short, or it is
  /// signed with an outdated hash function.
  case weakCertificate(path: String)
  /// The file does not have a private key.
  case malformedKey(path: String)
  /// The key is encrypted with a passphrase.
  case encryptedKey(path: String)
  /// The key is not that of the certificate.
  case keyMismatch(certificatePath: String, keyPath: String)
}

extension TLSCertificateError: CustomStringConvertible {
  /// A line for users that says what happened and what to do.
  public var description: String {
    switch self {
    case .cannotRead(let path, let reason): "\(path) cannot be used: \(reason)"
    case .malformedCertificate(let path):
      "\(path) has no certificate in the PEM format: name the file with BEGIN CERTIFICATE"
    case .weakCertificate(let path):
      "the certificate \(path) is too weak: make one with an RSA key of 2048 bits or more, or an "
        + "EC key, and SHA-256"
    case .malformedKey(let path):
      "\(path) has no private key in the PEM format: name the file with BEGIN PRIVATE KEY"
    case .encryptedKey(let path):
      "the key \(path) needs a passphrase: remove it with openssl pkey -in \(path) -out FILE"
    case .keyMismatch(let path, let keyPath):
      "the key \(keyPath) does not belong to the certificate \(path): name the two that were made "
        + "together"
    }
  }
}
