import CaromCore
import CaromDNS
import CaromDiscovery
import CaromTransport
import Foundation
import TestClock
import Testing

/// Queries to a name server on loopback, over real sockets.
@Suite struct UnicastClientTests {
  private static let type: Name = "_game._tcp.example.com"

  private func makeZone(_ count: Int) throws -> [Record] {
    try (0..<count).map { index in
      Record(
        Self.type, .pointer(try Self.type.prefixed(by: "service \(index)")), timeToLive: 60)
    } + [Record("a.example.com", .address(.v4(0xC000_0201)), timeToLive: 60)]
  }

  private func withServer(
    _ zone: [Record], _ body: (UnicastClient, UnicastNameServer, Endpoint) async throws -> Void
  ) async throws {
    try await withNetworkLoop { loop in
      let server = UnicastNameServer(on: loop, zone: zone)
      let endpoint = try await server.open()
      try await body(UnicastClient(on: loop), server, endpoint)
    }
  }

  @Test func `R86: each query has a port and an id of its own`() async throws {
    try await withServer(try makeZone(1)) { client, server, endpoint in
      for _ in 0..<20 {
        let answer = try await client.ask("a.example.com", .a, of: [endpoint])
        #expect(answer.records.map(\.data) == [.address(.v4(0xC000_0201))])
      }
      let queries = await server.queries
      #expect(queries.allSatisfy { !$0.isStream })
      // Ports and ids may repeat by chance, but rarely.
      #expect(Set(queries.map(\.source.port)).count > 15)
      #expect(Set(queries.map(\.id)).count > 15)
    }
  }

  @Test func `R86: an answer that does not fit into a datagram is requested over TCP`() async throws
  {
    try await withServer(try makeZone(200)) { client, server, endpoint in
      let answer = try await client.ask(Self.type, .ptr, of: [endpoint], within: .seconds(60))
      #expect(answer.records.count == 200)
      // On a busy machine the UDP query may have been repeated before.
      #expect(await server.queries.map(\.isStream).last == true)
    }
  }

  @Test func `missing names, multicast names, timeouts and cancellation throw their errors`()
    async throws
  {
    try await withServer(try makeZone(1)) { client, server, endpoint in
      await #expect(throws: UnicastError.nameError) {
        _ = try await client.ask("b.example.com", .a, of: [endpoint])
      }
      await #expect(throws: UnicastError.multicastName) {
        _ = try await client.ask("b.local", .a, of: [endpoint])
      }
      await server.stopAnswering(.a)
      await #expect(throws: UnicastError.timedOut) {
        _ = try await client.ask("a.example.com", .a, of: [endpoint], within: .milliseconds(20))
      }
      let task = Task { try await client.ask("a.example.com", .a, of: [endpoint]) }
      task.cancel()
      await #expect(throws: UnicastError.cancelled) { _ = try await task.value }
    }
  }

  private func makeService(_ count: Int) throws -> [Record] {
    try (0..<count).flatMap { index in
      let host = try Name("example.com").prefixed(by: "host\(index)")
      let data = RecordData.service(
        priority: UInt16(count - index), weight: 0, port: 7777, target: host)
      return [
        Record("Maya._game._tcp.example.com", data, timeToLive: 60),
        Record(host, .address(.v4(UInt32(index))), timeToLive: 60),
      ]
    }
  }

  @Test func `RFC 2782: of more than eight hosts of a service, those preferred are queried`()
    async throws
  {
    try await withServer(try makeService(10)) { client, server, endpoint in
      let resolution = try await client.resolve(
        "Maya._game._tcp.example.com", of: [endpoint], within: .seconds(60))
      #expect(
        resolution.endpoints == (2..<10).reversed().map { Endpoint(.v4($0), port: 7777) })
    }
  }

  #if os(Linux)
    @Test func `a TXT record that no server sends does not delay a resolution beyond its limit`()
      async throws
    {
      let zone = try makeService(1) + makeZone(1)
      try await withServer(zone) { _, server, endpoint in
        await server.stopAnswering(.txt)
        try await withNetworkLoop(name: "client") { loop in
          let clock = await Task(executorPreference: loop) { StoppedClock(of: loop) }.value
          let client = UnicastClient(on: loop)
          async let resolution = client.resolve(
            "Maya._game._tcp.example.com", of: [endpoint], within: .milliseconds(400))
          await server.receivesQueries(for: [.txt, .a, .aaaa])
          // By the time of this answer, those with the addresses have arrived too.
          _ = try await client.ask("a.example.com", .a, of: [endpoint])
          try await Task(executorPreference: loop) {
            try await clock.advance(by: .milliseconds(400))
          }.value
          let found = try await resolution
          #expect(found.endpoints == [Endpoint(.v4(0), port: 7777)] && found.text == [:])
        }
      }
    }
  #endif

  @Test func `queries whose time limit has passed fail at once`() async throws {
    try await withServer(try makeZone(1)) { client, _, endpoint in
      await withTaskGroup { group in
        for _ in 0..<64 {
          group.addTask {
            await #expect(throws: UnicastError.timedOut) {
              try await client.ask("a.example.com", .a, of: [endpoint], within: .seconds(-1))
            }
          }
        }
      }
    }
  }

  @Test func `the resolver configuration is read from its file`() throws {
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
