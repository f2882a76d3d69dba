import CaromCore
import CaromTransport
import TestAgones
import Testing

@testable import CaromFleet

/// Where players reach a game server, as a stand-in for Agones tells it.
@Suite(.timeLimit(.minutes(1)))
struct AgonesEndpointTests {
  /// Asks a stand-in for the endpoints of a port.
  private static func find(
    _ port: String? = nil, in object: AgonesObject, within limit: Duration = .seconds(20),
    _ meanwhile: @escaping @Sendable (AgonesStandIn) async throws -> Void = { _ in }
  ) async throws -> [Endpoint] {
    try await withNetworkLoop { loop in
      let standIn = AgonesStandIn(object, on: loop)
      let sidecar = AgonesSidecar(port: try await standIn.listen())
      async let done: Void = meanwhile(standIn)
      do {
        let found = try await sidecar.findEndpoints(ofPort: port, within: limit, on: loop)
        try await done
        #expect(await standIn.complaints == [])
        await standIn.close()
        return found
      } catch {
        await standIn.close()
        throw error
      }
    }
  }

  private static func make(
    _ address: String, _ ports: [(name: String, number: Int)]
  ) -> AgonesObject {
    var object = AgonesObject()
    (object.address, object.ports) = (address, ports)
    return object
  }

  @Test func `the address and the first port of the server, or the one with a name`() async throws {
    let object = Self.make("10.0.0.1", [("game-tcp", 7_001), ("game-udp", 7_002)])
    #expect(try await Self.find(in: object) == [Endpoint(.v4(0x0A00_0001), port: 7_001)])
    #expect(
      try await Self.find("game-udp", in: object) == [Endpoint(.v4(0x0A00_0001), port: 7_002)])
    await #expect(throws: AgonesEndpointError.noSuchPort("game")) {
      try await Self.find("game", in: object)
    }
  }

  @Test func `a name in place of an address is looked up`() async throws {
    let found = try await Self.find(in: Self.make("localhost", [("game", 7_001)]))
    #expect(found.contains(Endpoint(.loopback4, port: 7_001)))
    for address in ["0.0.0.0", "224.0.0.1"] {
      await #expect(throws: AgonesEndpointError.unusableAddress(address)) {
        try await Self.find(in: Self.make(address, [("game", 7_001)]))
      }
    }
    do {
      _ = try await Self.find(in: Self.make("no such host", [("game", 7_001)]))
      Issue.record("the name of no host was looked up")
    } catch AgonesEndpointError.unknownHost(let host, _) { #expect(host == "no such host") }
  }

  @Test func `an address that Agones knows later is waited for`() async throws {
    let found = try await Self.find(in: Self.make("", [])) { standIn in
      await standIn.waitForCalls(2)
      await standIn.change { $0.address = "10.0.0.1" }
      await standIn.waitForCalls(4)
      await standIn.setFault(.fails)
      await standIn.waitForCalls(5)
      await standIn.change { $0.ports = [("game", 7_001)] }
      await standIn.setFault(nil)
    }
    #expect(found == [Endpoint(.v4(0x0A00_0001), port: 7_001)])
  }

  @Test func `the wait has an end, with the last reason`() async throws {
    await #expect(throws: AgonesEndpointError.noAddress) {
      try await Self.find(in: Self.make("10.0.0.1", []), within: .milliseconds(200))
    }
    await #expect(throws: AgonesEndpointError.sidecar(.status(500))) {
      try await Self.find(in: AgonesObject(), within: .milliseconds(400)) { standIn in
        await standIn.setFault(.fails)
      }
    }
    try await withNetworkLoop { loop in
      let standIn = AgonesStandIn(on: loop)
      let sidecar = AgonesSidecar(port: try await standIn.listen())
      await standIn.close()
      await #expect(throws: AgonesEndpointError.sidecar(.transport(.connectionRefused))) {
        try await sidecar.findEndpoints(within: .zero, on: loop)
      }
      let waiting = Task { try await sidecar.findEndpoints(on: loop) }
      waiting.cancel()
      await #expect(throws: AgonesEndpointError.self) { try await waiting.value }
    }
  }

  @Test func `every error says what to do`() {
    let errors: [AgonesEndpointError] = [
      .sidecar(.malformed), .noAddress, .noSuchPort("game"), .unknownHost("x", .unreachable),
      .unusableAddress("0.0.0.0"),
    ]
    for error in errors { #expect("\(error)".contains(": check") || "\(error)".contains(": give")) }
  }
}
