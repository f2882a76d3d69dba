import CaromCore
import CaromFleet
import CaromPlacement
import CaromTransport
import Foundation
import TestRedis
import TestTLS
import Testing

/// Files with certificates and their keys, which exist while `body` runs.
private struct CertificateFolder {
  typealias Files = (certificate: [UInt8], key: [UInt8])
  private let folder: URL

  static func with<Value>(_ body: (CertificateFolder) async throws -> Value) async throws -> Value {
    let folder = FileManager.default.temporaryDirectory.appending(
      path: "carom-fleet-tls-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    return try await body(CertificateFolder(folder: folder))
  }

  /// Writes a certificate and its key, and returns the paths of the two files.
  func write(_ name: String, _ files: Files) throws -> (certificate: String, key: String) {
    let (certificate, key) = (path("\(name).cert"), path("\(name).key"))
    try Data(files.certificate).write(to: URL(filePath: certificate))
    try Data(files.key).write(to: URL(filePath: key))
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: key)
    return (certificate, key)
  }

  private func path(_ name: String) -> String { folder.appending(path: name).path }
}

/// A directory that is reached with TLS, at Redis's own server.
@Suite(
  .timeLimit(.minutes(1)),
  .enabled(if: RedisServer.path != nil, Comment(rawValue: RedisServer.need)),
  .enabled(if: TestCertificate.program != nil, "openssl is missing"))
struct FleetTLSTests {
  private static let empty = FleetStatus(hosts: [], matches: 0, orphans: 0, finished: 0)

  /// What a fleet's directory says at this address: why it cannot be used, or nothing.
  private static func failure(
    of address: FleetAddress, on loop: NetworkLoop
  ) async -> RedisError? {
    let directory = FleetDirectory(address, on: loop)
    var failure: RedisError?
    do throws(RedisError) { _ = try await directory.status() } catch { failure = error }
    await directory.close()
    return failure
  }

  /// Starts a server with a certificate that the first of two authorities has signed, and runs
  /// `body` with the files of the two.
  private static func withServer(
    names: String = "DNS:localhost", days: Int = 2, authClients: String = "no",
    _ body:
      @escaping @Sendable (
        RedisServer, NetworkLoop, _ files: CertificateFolder, _ authority: String, _ other: String
      ) async throws -> Void
  ) async throws {
    let authority = try TestCertificate.files.get()
    let other = try TestCertificate.make("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256")
    try await CertificateFolder.with { folder in
      let own = try folder.write(
        "server", try TestCertificate.sign(names: names, by: authority, days: days))
      let trusted = try folder.write("authority", authority).certificate
      let wrong = try folder.write("other", other).certificate
      let server = try RedisServer(
        [
          "--tls-cert-file", own.certificate, "--tls-key-file", own.key, "--tls-ca-cert-file",
          trusted, "--tls-auth-clients", authClients,
        ], isEncrypted: true)
      defer { server.stop() }
      try await withNetworkLoop { loop in
        try await Task(executorPreference: loop) {
          try await body(server, loop, folder, trusted, wrong)
        }.value
      }
    }
  }

  private static func address(
    of server: RedisServer, trusting authorities: String
  ) throws -> FleetAddress {
    var address = try server.address()
    try address.readAuthorities(from: authorities)
    return address
  }

  @Test func `a host and a matchmaker use TLS, also after the server has started again`()
    async throws
  {
    try await Self.withServer { server, loop, _, authority, _ in
      let address = try Self.address(of: server, trusting: authority)
      let directory = FleetDirectory(address, on: loop)
      var changes = directory.changes.makeAsyncIterator()
      #expect(try await directory.status() == Self.empty)
      let host = try await TestHost(.make(1), in: address, on: loop)
      #expect(try await directory.status().hosts.count == 1)
      server.stop()
      guard case .away = await changes.next(isolation: #isolation) else {
        Issue.record("the directory is not away")
        return
      }
      try server.start()
      #expect(await changes.next(isolation: #isolation) == .back)
      try await host.wait(for: .host(.registered))
      await host.membership.withdraw()
      await directory.close()
    }
  }

  @Test func `a server of another authority, and the authorities of the system, are not trusted`()
    async throws
  {
    try await Self.withServer { server, loop, _, _, other in
      let wrong = try Self.address(of: server, trusting: other)
      #expect(await Self.failure(of: wrong, on: loop) == .tls(.untrusted))
      #expect(await Self.failure(of: try server.address(), on: loop) == .tls(.untrusted))
      let host = FleetMembership(of: .make(1), in: wrong, keys: [], on: loop)
      var events = host.events.makeAsyncIterator()
      await host.join()
      #expect(await events.next(isolation: #isolation) == .away(.tls(.untrusted)))
      await host.withdraw()
    }
  }

  @Test func `a host is told that the directory's port is not one for TLS`() async throws {
    try await RedisServer.withLoop { server, loop in
      let address = try FleetAddress("rediss://\(server.endpoint)/test")
      let host = FleetMembership(of: .make(1), in: address, keys: [], on: loop)
      var events = host.events.makeAsyncIterator()
      await host.join()
      let event = await events.next(isolation: #isolation)
      // Redis answers only if the first message has a line end by chance.
      #expect([.away(.tls(.missing)), .away(.tls(.unanswered))].contains(event))
      await host.withdraw()
    }
  }

  @Test func `a certificate for another name, and one that has expired, are refused`()
    async throws
  {
    try await Self.withServer(names: "DNS:game.example") { server, loop, _, authority, _ in
      let address = try Self.address(of: server, trusting: authority)
      #expect(await Self.failure(of: address, on: loop) == .tls(.otherName))
    }
    try await Self.withServer(days: 0) { server, loop, _, authority, _ in
      let address = try Self.address(of: server, trusting: authority)
      #expect(await Self.failure(of: address, on: loop) == .tls(.expired))
    }
  }

  @Test func `a server that asks for a certificate gets one, and refuses those of others`()
    async throws
  {
    try await Self.withServer(authClients: "yes") { server, loop, folder, authority, _ in
      var address = try Self.address(of: server, trusting: authority)
      #expect(await Self.failure(of: address, on: loop) == .tls(.certificateRequired))
      let stranger = try folder.write("stranger", try TestCertificate.sign())
      try address.readCertificate(from: stranger.certificate, keyFile: stranger.key)
      #expect(await Self.failure(of: address, on: loop) == .tls(.certificateRefused))
      let own = try folder.write(
        "client", try TestCertificate.sign(by: try TestCertificate.files.get()))
      try address.readCertificate(from: own.certificate, keyFile: own.key)
      #expect(await Self.failure(of: address, on: loop) == nil)
      try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: own.key)
      #expect(throws: TLSCertificateError.self) {
        try address.readCertificate(from: own.certificate, keyFile: own.key)
      }
      #expect(throws: TLSCertificateError.self) { try address.readAuthorities(from: own.key) }
    }
  }

  @Test func `a port for TLS that is used without TLS is told as such`() async throws {
    try await Self.withServer { server, loop, _, _, _ in
      let address = try FleetAddress("redis://\(server.endpoint)/test")
      #expect(await Self.failure(of: address, on: loop) == .noAnswer)
      #expect(RedisError.noAnswer.description.contains("rediss://"))
    }
  }

  /// A server without TLS waits for the end of a line, which the first message of TLS may have.
  @Test func `a port without TLS that is used with TLS is told as such`() async throws {
    try await RedisServer.withLoop { server, loop in
      let address = try FleetAddress("rediss://\(server.endpoint)/test")
      let failure = await Self.failure(of: address, on: loop)
      #expect(failure == .tls(.unanswered) || failure == .tls(.missing))
      #expect(failure?.description.contains("redis://") == true)
    }
  }

  @Test(arguments: ["HTTP/1.1 400 Bad Request", "-ERR unknown command"])
  func `a server that answers TLS in plaintext has none`(answer: String) async throws {
    try await withNetworkLoop { loop in
      let server = AnsweringServer(answer, on: loop)
      let address = try FleetAddress("rediss://\(try await server.listen())/test")
      #expect(await Self.failure(of: address, on: loop) == .tls(.missing))
      await server.close()
    }
  }
}
