#if os(Linux)
  import CaromCore
  import TestTLS
  import Testing

  @testable import CaromTransport

  /// The client's side of TLS.
  @Suite(
    .timeLimit(.minutes(2)), .enabled(if: TestCertificate.program != nil, "openssl is missing"))
  struct TLSClientTests {
    private typealias Files = (certificate: [UInt8], key: [UInt8])

    private static func makeServer(_ files: Files) throws -> TLSSession {
      try TLSSession(
        try TLSCertificate(
          certificate: files.certificate, named: "certificate", key: files.key, named: "key"))
    }

    /// Does the whole handshake, and returns why the client has ended it.
    private static func meet(_ client: TLSSession, _ server: TLSSession) -> TLSFailure? {
      while client.status == .open {
        let (first, second) = (client.takeOutput(), server.takeOutput())
        if first.isEmpty, second.isEmpty { break }
        _ = server.receive(first)
        _ = client.receive(second)
      }
      return client.failure
    }

    @Test func `a client trusts a server by its authority, and bytes pass`() throws {
      let authority = try TestCertificate.files.get()
      let server = try Self.makeServer(try TestCertificate.sign(by: authority))
      let client = try TLSSession(
        to: "localhost.", trusting: try TLSTrust(authorities: authority.certificate))
      #expect(!client.write([1]) && client.isClient && !server.isClient)
      #expect(Self.meet(client, server) == nil)
      #expect(client.isEstablished && server.isEstablished)
      #expect(client.write([1, 2]) && server.receive(client.takeOutput()) == [1, 2])
      #expect(server.write([3]) && client.receive(server.takeOutput()) == [3])
      server.finish()
      #expect(client.receive(server.takeOutput()) == [] && client.status == .ended)
      #expect(client.failure == nil)
    }

    @Test(
      arguments: [
        ("localhost", nil), ("game.example", nil), ("a.table.example", nil), ("127.0.0.1", nil),
        ("example", .otherName), ("b.a.table.example", .otherName), ("127.0.0.2", .otherName),
        ("::1", .otherName),
      ] as [(String, TLSFailure?)])
    func `a server is known by the names and addresses in its certificate`(
      host: String, failure: TLSFailure?
    ) throws {
      let files = try TestCertificate.files.get()
      let client = try TLSSession(
        to: host, trusting: try TLSTrust(authorities: files.certificate))
      #expect(Self.meet(client, try Self.makeServer(files)) == failure)
    }

    @Test func `a certificate that is not trusted, not valid or without names is refused`() throws {
      let authority = try TestCertificate.files.get()
      let trust = try TLSTrust(authorities: authority.certificate)
      func failure(_ files: Files, _ trust: TLSTrust) throws -> TLSFailure? {
        Self.meet(try TLSSession(to: "localhost", trusting: trust), try Self.makeServer(files))
      }
      #expect(try failure(try TestCertificate.sign(), trust) == .untrusted)
      // An authority with the same name and another key.
      let other = try TestCertificate.make("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256")
      #expect(try failure(try TestCertificate.sign(by: other), trust) == .untrusted)
      #expect(try failure(authority, try TLSTrust()) == .untrusted)
      #expect(try failure(try TestCertificate.sign(by: authority, days: 0), trust) == .expired)
      // Its subject is "localhost", which does not count.
      #expect(
        try failure(try TestCertificate.sign(names: "DNS:a", by: authority), trust) == .otherName)
    }

    @Test(arguments: ["HTTP/1.1 400 Bad Request\r\n", "-ERR unknown command\r\n"])
    func `a server without TLS is told as such`(answer: String) throws {
      let client = try TLSSession(to: "localhost", trusting: try TLSTrust())
      #expect(client.takeOutput().first == 0x16)
      #expect(client.receive(Array(answer.utf8)) == [])
      #expect(client.failure == .missing && !client.isEstablished)
    }

    @Test func `the alert of a server says why it has refused`() throws {
      func failure(_ alert: UInt8) throws -> TLSFailure? {
        let client = try TLSSession(to: "localhost", trusting: try TLSTrust())
        _ = client.receive([0x15, 3, 3, 0, 2, 2, alert])
        return client.failure
      }
      #expect(try failure(40) == .incompatible && failure(70) == .incompatible)
      #expect(try failure(116) == .certificateRequired)
      #expect(try failure(48) == .certificateRefused && failure(42) == .certificateRefused)
      #expect(try failure(50) == .violation)
    }

    @Test func `files that have no certificate, or not the key of it, are refused`() throws {
      let files = try TestCertificate.files.get()
      for authorities in [[], Array("text".utf8), files.key] {
        #expect(throws: TLSCertificateError.self) { try TLSTrust(authorities: authorities) }
      }
      let damaged = files.certificate + Array("-----BEGIN CERTIFICATE-----\nAAAA\n".utf8)
      #expect(throws: TLSCertificateError.self) { try TLSTrust(authorities: damaged) }
      _ = try TLSTrust(authorities: files.certificate + files.certificate)
      let other = try TestCertificate.sign()
      let own = TLSTrust.Certificate(
        chain: files.certificate, named: "own", key: other.key, named: "key")
      do throws(TLSCertificateError) {
        _ = try TLSTrust(presenting: own)
        Issue.record("the key of another certificate is taken")
      } catch { #expect(error.description.contains("key")) }
    }

    @Test func `a client on a stream is told when it can write, and why it cannot`() async throws {
      let files = try TestCertificate.files.get()
      try await onLoop { loop in
        for (host, failure) in [("localhost", nil), ("example", TLSFailure.otherName)] {
          let pair = try await makePair(on: loop)
          try pair.server.becomeTLS(
            try TLSCertificate(
              certificate: files.certificate, named: "certificate", key: files.key, named: "key"))
          let server = pair.server.watch()
          try pair.client.becomeTLSClient(
            to: host, trusting: try TLSTrust(authorities: files.certificate))
          let client = pair.client.watch()
          #expect(throws: TransportError.closed) { try pair.client.write([1]) }
          #expect(await client.next() == (failure == nil ? .writable : .end))
          #expect(pair.client.tlsFailure == failure)
          if failure == nil {
            try pair.client.write([1, 2])
            #expect(await server.next() == .bytes([1, 2]))
            pair.client.close()
            #expect(await server.next() == .end)
          }
        }
      }
    }
  }
#endif
