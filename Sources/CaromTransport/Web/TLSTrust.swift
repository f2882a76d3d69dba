import CUVLoop
import CaromCore

/// Which servers a client trusts, and the certificate by which they know the client.
///
/// Unchecked: OpenSSL allows several threads to use the context, which is not changed after `init`.
@safe package final class TLSTrust: @unchecked Sendable {
  /// A certificate of a client, followed by its issuers, and its private key: the contents of files
  /// in the PEM format, and the names that errors use for them.
  package struct Certificate: Sendable {
    package let chain: [UInt8]
    package let key: [UInt8]
    package let path: String
    package let keyPath: String

    package init(chain: [UInt8], named path: String, key: [UInt8], named keyPath: String) {
      (self.chain, self.key, self.path, self.keyPath) = (chain, key, path, keyPath)
    }
  }

  let context: OpaquePointer

  /// Trusts the servers whose certificate is in `authorities`, the content of a file in the PEM
  /// format, or comes from an authority there; if it is nil, those that the system trusts. Errors
  /// mention the file by `path`.
  package init(
    authorities: [UInt8]? = nil, named path: String = "", presenting own: Certificate? = nil
  ) throws(TLSCertificateError) {
    var out: OpaquePointer?
    var status = unsafe cuv_trust_create(authorities, authorities?.count ?? 0, &out)
    try TLSCertificate.check(status, path, "")
    unsafe context = out!
    guard let own else { return }
    status = unsafe cuv_trust_present(
      context, own.chain, own.chain.count, own.key, own.key.count)
    try TLSCertificate.check(status, own.path, own.keyPath)
  }

  deinit { unsafe cuv_trust_destroy(context) }
}
