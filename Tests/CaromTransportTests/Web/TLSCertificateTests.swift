#if os(Linux)
  import Foundation
  import TestTLS
  import Testing

  @testable import CaromTransport

  /// The files of a certificate, and what users read about those that cannot be used.
  @Suite(
    .timeLimit(.minutes(1)), .enabled(if: TestCertificate.program != nil, "openssl is missing"))
  struct TLSCertificateTests {
    private func failure(_ certificate: [UInt8], _ key: [UInt8]) -> String {
      do throws(TLSCertificateError) {
        _ = try TLSCertificate(certificate: certificate, named: "c.pem", key: key, named: "k.pem")
        return ""
      } catch { return "\(error)" }
    }

    @Test func `a certificate and its key are read from files`() throws {
      let files = try TestCertificate.files.get()
      let folder = FileManager.default.temporaryDirectory.appending(
        path: "carom-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }
      let (path, keyPath) = (folder.path + "/c.pem", folder.path + "/k.pem")
      try Data(files.certificate).write(to: URL(filePath: path))
      #expect {
        try TLSCertificate(certificateFile: path, keyFile: keyPath)
      } throws: {
        "\($0)" == "\(keyPath) cannot be used: there is no such file or folder"
      }
      try Data(files.key).write(to: URL(filePath: keyPath))
      _ = try TLSCertificate(certificateFile: path, keyFile: keyPath)
      #expect {
        try TLSCertificate(certificateFile: folder.path, keyFile: keyPath)
      } throws: {
        "\($0)" == "\(folder.path) cannot be used: that is not a file"
      }
    }

    @Test func `a certificate is for its names and for those that a wildcard matches`() throws {
      let certificate = try TestCertificate.load()
      #expect(certificate.names == ["localhost", "game.example", "*.table.example"])
      for name in ["localhost", "game.example", "GAME.example", "a.table.example"] {
        #expect(certificate.covers(name), "\(name)")
      }
      for name in [
        "", "example", "other.example", "table.example", "a.b.table.example", "127.0.0.1",
      ] {
        #expect(!certificate.covers(name), "\(name)")
      }
    }

    @Test func `a file with both, in any order, serves for both`() throws {
      let files = try TestCertificate.files.get()
      for both in [files.certificate + files.key, files.key + files.certificate] {
        #expect(failure(both, both) == "")
      }
    }

    @Test func `the issuers follow their certificate`() throws {
      let files = try TestCertificate.files.get()
      let issuer = try TestCertificate.make(
        "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-384")
      #expect(failure(files.certificate + issuer.certificate, files.key) == "")
      // A damaged issuer is not left out.
      var damaged = issuer.certificate
      damaged[damaged.count / 2] = UInt8(ascii: "!")
      #expect(failure(files.certificate + damaged, files.key).contains("has no certificate"))
    }

    @Test func `files that do not belong together are refused`() throws {
      let files = try TestCertificate.files.get()
      let others = [
        try TestCertificate.make("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"),
        try TestCertificate.make("-newkey", "rsa:2048"),
      ]
      for other in others {
        #expect(
          failure(files.certificate, other.key)
            == "the key k.pem does not belong to the certificate c.pem: name the two that were "
            + "made together")
        #expect(failure(other.certificate, other.key) == "")
      }
    }

    @Test func `files without a certificate or a key are refused`() throws {
      let files = try TestCertificate.files.get()
      let noCertificate =
        "c.pem has no certificate in the PEM format: name the file with BEGIN CERTIFICATE"
      let noKey = "k.pem has no private key in the PEM format: name the file with BEGIN PRIVATE KEY"
      #expect(failure(files.key, files.certificate) == noCertificate)
      #expect(failure([], files.key) == noCertificate)
      #expect(failure(files.certificate, files.certificate) == noKey)
      #expect(failure(files.certificate, []) == noKey)
      var damaged = files.key
      damaged[damaged.count / 2] = UInt8(ascii: "!")
      #expect(failure(files.certificate, damaged) == noKey)
    }

    @Test func `a key with a passphrase is refused without asking for it`() throws {
      let files = try TestCertificate.make("-newkey", "rsa:2048", "-passout", "pass:secret")
      #expect(
        failure(files.certificate, files.key)
          == "the key k.pem needs a passphrase: remove it with openssl pkey -in k.pem -out FILE")
    }

    @Test func `a certificate with a short key is refused`() throws {
      let files = try TestCertificate.make("-newkey", "rsa:1024")
      #expect(failure(files.certificate, files.key).hasPrefix("the certificate c.pem is too weak"))
    }
  }
#endif
