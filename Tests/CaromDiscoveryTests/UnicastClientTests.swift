import CaromCore
import CaromDNS
import CaromDiscovery
import CaromTransport
import Foundation
import Testing

/// Questions to a name server on loopback, over real sockets.
@Suite struct UnicastClientTests {
  private static let type: Name = "_game._tcp.example.com"

  private func makeZone(_ count: Int) throws -> [Record] {
    try (0..<count).map { index in
      Record(
        Self.type, .pointer(try Self.type.prefixed(by: "table \(index)")), timeToLive: 60)
    } + [Record("a.example.com", .address(.v4(0xC000_0201)), timeToLive: 60)]
  }

  private func withServer(
    _ zone: [Record], _ body: (UnicastClient, UnicastNameServer, Endpoint) async throws -> Void
  ) async throws {
    try await withNetworkLoop { loop in
      let server = UnicastNameServer(on: loop, zone: zone)
      let place = try await server.open()
      try await body(UnicastClient(on: loop), server, place)
    }
  }

  @Test func `R86: each question leaves from a port of its own with an id of its own`() async throws
  {
    try await withServer(try makeZone(1)) { client, server, place in
      for _ in 0..<20 {
        let answer = try await client.ask("a.example.com", .a, of: [place])
        #expect(answer.records.map(\.data) == [.address(.v4(0xC000_0201))])
      }
      let asked = await server.asked
      #expect(asked.allSatisfy { !$0.isStream })
      // A port or an id may come again by chance, but not often.
      #expect(Set(asked.map(\.source.port)).count > 15)
      #expect(Set(asked.map(\.id)).count > 15)
    }
  }

  @Test func `R86: an answer that does not fit a datagram comes over TCP`() async throws {
    try await withServer(try makeZone(200)) { client, server, place in
      let answer = try await client.ask(Self.type, .ptr, of: [place], within: .seconds(60))
      #expect(answer.records.count == 200)
      // A busy machine may miss the first datagram's second.
      #expect(await server.asked.map(\.isStream).last == true)
    }
  }

  @Test func `a name that is not there, and a question that nobody waits for`() async throws {
    try await withServer(try makeZone(1)) { client, server, place in
      await #expect(throws: UnicastError.nameError) {
        _ = try await client.ask("b.example.com", .a, of: [place])
      }
      await #expect(throws: UnicastError.multicastName) {
        _ = try await client.ask("b.local", .a, of: [place])
      }
      await server.fallSilent()
      await #expect(throws: UnicastError.timedOut) {
        _ = try await client.ask("a.example.com", .a, of: [place], within: .milliseconds(20))
      }
      let task = Task { try await client.ask("a.example.com", .a, of: [place]) }
      task.cancel()
      await #expect(throws: UnicastError.cancelled) { _ = try await task.value }
    }
  }

  @Test func `the system's file is read from where it is`() throws {
    let path = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).conf").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    try "nameserver 192.0.2.1\nsearch example.com\n".write(
      toFile: path, atomically: true, encoding: .utf8)
    let read = UnicastConfiguration.system(at: path)
    #expect(read.servers == [Endpoint(.v4(0xC000_0201), port: 53)])
    #expect(read.domains == ["example.com"])
    #expect(UnicastConfiguration.system(at: path + ".none").servers == [])
  }
}
