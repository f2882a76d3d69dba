import CaromCrypto
import CaromPlacement
import CaromTransport

// For addresses that begin with `rediss://`.
extension FleetAddress {
  /// Trusts the server if its certificate is in this file, or comes from an authority there, in the
  /// PEM format, and not if it is one that the system trusts. Blocks while it reads.
  public mutating func readAuthorities(from path: String) throws(TLSCertificateError) {
    let file = try Self.read(path, isSecret: false)
    _ = try TLSTrust(authorities: file.content.reveal(), named: path)
    authorities = file
  }

  /// Sets the certificate by which the server knows this program, for a server that asks for one:
  /// its file, in the PEM format and with its issuers, and the file of its key, which must belong
  /// to this user and give no permissions to others. Blocks while it reads.
  public mutating func readCertificate(
    from path: String, keyFile: String
  ) throws(TLSCertificateError) {
    let own = try Self.read(path, isSecret: false)
    let key = try Self.read(keyFile, isSecret: true)
    _ = try TLSTrust(presenting: TLSTrust.Certificate(own, key: key))
    (certificate, certificateKey) = (own, key)
  }

  private static func read(
    _ path: String, isSecret: Bool
  ) throws(TLSCertificateError) -> FleetFile {
    do throws(PrivateFile.Failure) {
      var content = try PrivateFile.content(
        of: path, limit: TLSCertificate.fileLimit, isSecret: isSecret)
      guard !content.isEmpty else { throw PrivateFile.Failure.missing }
      return FleetFile(path: path, content: SecretBytes(moving: &content))
    } catch { throw .cannotRead(path: path, error) }
  }

  /// What a connection with TLS needs; nil for one without.
  func trust() throws(TLSCertificateError) -> TLSTrust? {
    guard isEncrypted else { return nil }
    var own: TLSTrust.Certificate?
    if let certificate, let certificateKey {
      own = TLSTrust.Certificate(certificate, key: certificateKey)
    }
    return try TLSTrust(
      authorities: authorities?.content.reveal(), named: authorities?.path ?? "", presenting: own)
  }
}

extension TLSTrust.Certificate {
  fileprivate init(_ chain: FleetFile, key: FleetFile) {
    self.init(
      chain: chain.content.reveal(), named: chain.path, key: key.content.reveal(), named: key.path)
  }
}
