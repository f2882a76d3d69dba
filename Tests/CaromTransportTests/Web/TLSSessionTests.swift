#if os(Linux)
  import CaromCore
  import TestTLS
  import Testing

  @testable import CaromTransport

  /// The server's side of TLS, without sockets.
  @Suite(
    .timeLimit(.minutes(2)), .enabled(if: TestCertificate.program != nil, "openssl is missing"))
  struct TLSSessionTests {
    private func makePair(
      _ newest: TLSClient.Version = .tls13, offering name: String = "http/1.1"
    ) throws -> (client: TLSClient, server: TLSSession) {
      let server = try TLSSession(try TestCertificate.load())
      return (TLSClient(newest: newest, offering: name), server)
    }

    @Test(arguments: [TLSClient.Version.tls12, .tls13])
    func `TLS 1.2 and later carry bytes in both directions`(version: TLSClient.Version) throws {
      let (client, server) = try makePair(version)
      #expect(!server.write([1]) && server.takeOutput() == [])
      server.meet(client)
      #expect(client.isEstablished && server.isEstablished && client.hasProtocol)
      #expect(client.write([1, 2, 3]))
      #expect(server.receive(client.take()) == [1, 2, 3])
      let long = (0..<100_000).map { UInt8(truncatingIfNeeded: $0) }
      #expect(server.write(long))
      client.receive(server.takeOutput())
      #expect(client.read() == long)
      #expect(client.write(long))
      #expect(server.receive(client.take()) == long)
      server.finish()
      client.receive(server.takeOutput())
      #expect(client.hasEnded && server.status == .open)
      client.finish()
      #expect(server.receive(client.take()) == [] && server.status == .ended)
    }

    @Test(arguments: [TLSClient.Version.tls10, .tls11])
    func `versions before 1.2 get an alert`(version: TLSClient.Version) throws {
      let (client, server) = try makePair(version)
      #expect(server.receive(client.take()) == [] && server.status == .failed)
      let alert = server.takeOutput()
      // A fatal alert: protocol_version (RFC 8446 §6.2).
      #expect(alert.first == 0x15 && alert.suffix(2) == [2, 70])
      #expect(!client.receive(alert))
      #expect(server.receive([1, 2, 3]) == [] && !server.write([1]) && server.takeOutput() == [])
    }

    @Test func `a client that offers other protocols than HTTP/1.1 alone gets an alert`() throws {
      let (client, server) = try makePair(offering: "h2")
      _ = server.receive(client.take())
      #expect(server.status == .failed)
      #expect(server.takeOutput().suffix(2) == [2, 120])
      let other = try makePair(offering: "")
      other.server.meet(other.client)
      #expect(other.server.isEstablished && !other.client.hasProtocol)
    }

    @Test func `a renegotiation is refused, and new keys are not`() throws {
      let (client, server) = try makePair(.tls12)
      server.meet(client)
      client.changeKeys()
      _ = server.receive(client.take())
      let refusal = server.takeOutput()
      #expect(refusal.count < 100)  // An alert, and no second handshake.
      #expect(!client.receive(refusal))
      let newer = try makePair()
      newer.server.meet(newer.client)
      newer.client.changeKeys()
      #expect(newer.client.write([7]))
      #expect(newer.server.receive(newer.client.take()) == [7])
      #expect(newer.server.write([8]))
      #expect(newer.client.receive(newer.server.takeOutput()) && newer.client.read() == [8])
    }

    @Test(arguments: [TLSClient.Version.tls12, .tls13])
    func `a handshake may be cut anywhere`(version: TLSClient.Version) throws {
      for length in [1, 2, 3, 5, 17, 100, 1000] {
        let (client, server) = try makePair(version)
        var received: [UInt8] = []
        for _ in 0..<4 {
          if client.isEstablished { _ = client.write([1, 2, 3]) }
          var flight = client.take()[...]
          while !flight.isEmpty {
            received += server.receive(Array(flight.prefix(length)))
            flight = flight.dropFirst(length)
          }
          client.receive(server.takeOutput())
        }
        #expect(server.isEstablished && received.starts(with: [1, 2, 3]), "\(length) bytes each")
      }
    }

    @Test func `a handshake that does not end is given up at its limit`() throws {
      let server = try TLSSession(try TestCertificate.load())
      // A ClientHello of 100,000 bytes, in records of 16,000.
      let record: [UInt8] = [0x16, 3, 1, 0x3E, 0x80]
      let hello: [UInt8] = [1, 1, 0x86, 0xA0] + [UInt8](repeating: 0, count: 15_996)
      #expect(server.receive(record + hello) == [] && server.status == .open)
      _ = server.receive(record + [UInt8](repeating: 0, count: 374))
      #expect(server.status == .open)
      _ = server.receive([0])
      #expect(server.status == .failed)
    }

    @Test(arguments: ["GET / HTTP/1.1\r\nHost: a\r\n\r\n", "\u{16}\u{3}\u{1}garbage garbage"])
    func `bytes that are no handshake fail`(text: String) throws {
      let server = try TLSSession(try TestCertificate.load())
      #expect(server.receive(Array(text.utf8)) == [] && server.status == .failed)
    }

    /// Changes bytes of what a client sends, in the handshake and after it. The server either
    /// carries on or fails, and never passes on bytes that the client has not sent.
    @Test func `10,000 mutated handshakes do no harm`() async throws {
      // Not on a thread of the global pool, of which there are few.
      try await onLoop { _ in
        let certificate = try TestCertificate.load()
        var random = SeededGenerator(seed: 17)
        var ends: [TLSSession.Status: Int] = [:]
        for _ in 0..<10_000 {
          let server = try TLSSession(certificate)
          let client = TLSClient(
            newest: Bool.random(using: &random) ? .tls12 : .tls13)
          let target = Int.random(in: 0..<3, using: &random)
          for round in 0..<3 where server.status == .open {
            if client.isEstablished { _ = client.write([1, 2, 3]) }
            var flight = client.take()
            if round == target, !flight.isEmpty { mutate(&flight, using: &random) }
            let received = server.receive(flight)
            #expect([1, 2, 3, 1, 2, 3, 1, 2, 3].starts(with: received))
            client.receive(server.takeOutput())
          }
          ends[server.status, default: 0] += 1
        }
        #expect(ends[.failed, default: 0] > 1000 && ends[.open, default: 0] > 100)
      }
    }

    private func mutate(_ bytes: inout [UInt8], using random: inout SeededGenerator) {
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        let place = Int.random(in: 0..<bytes.count, using: &random)
        switch Int.random(in: 0..<4, using: &random) {
        case 0: bytes[place] = .random(in: 0...255, using: &random)
        case 1: bytes[place] ^= UInt8(1) << UInt8.random(in: 0..<8, using: &random)
        case 2: bytes.insert(.random(in: 0...255, using: &random), at: place)
        default: bytes.removeSubrange(place..<min(bytes.count, place + 20))
        }
        if bytes.isEmpty { return }
      }
    }
  }
#endif
