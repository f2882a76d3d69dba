import Carom
import CaromServer
import Logging
import ServiceLifecycle

/// A walker as clients see it: its position on a field of 100 by 100 m, in steps of 1 cm.
let schema = EntitySchema(.position(0...100, step: 0.01), .position(0...100, step: 0.01))

/// 200 walkers on circles around their own centers.
struct Walkers {
  private var angle = 0

  mutating func step(_ world: inout WorldReplicator) {
    angle = (angle + 1) % 1_200
    // A triangle wave in whole centimeters: no library mathematics, the same on every machine.
    let offset = Int64(angle < 600 ? angle : 1_200 - angle)
    for id in UInt32(0)..<200 {
      world.set(id, values: [Int64(id) * 47 + offset, 4_700 + offset])
    }
  }
}

/// Simulates the world 20 times a second, and sends each client those near the center.
func serve(_ session: Session) async throws {
  let configuration = WorldConfiguration(
    schema: schema, area: InterestArea(within: 25), ticksPerSecond: 20, bandwidth: 16_000)
  var walkers = Walkers()
  try await WorldReplicator(configuration).run(over: session) { hosted in
    while let notice = hosted.pollNotice() {
      if case .joined(let peer) = notice { hosted.setFocus(x: 50, y: 50, for: peer) }
    }
    walkers.step(&hosted.world)
  }
}

/// Receives snapshots for `duration`; returns how many walkers are known at the end.
func watch(
  at endpoint: Endpoint, for duration: Duration, on loop: NetworkLoop
) async throws -> Int {
  let me = PeerInfo(id: .random(), name: "viewer", application: "world")
  return try await Session.join([endpoint], as: me, loop: loop) { session, host in
    let view = JoinedWorld(host, schema: schema, over: session)
    let end = loop.now + duration
    for await _ in view.updates where loop.now >= end { break }
    return view.entities.count
  }
}

/// A service group runs the server until a client has watched it for two seconds.
@main enum WorldServer {
  static func main() async throws {
    try await withNetworkLoop { loop in
      let logger = Logger(label: "world")
      let (ports, opened) = AsyncStream.makeStream(of: UInt16.self)
      let server = SessionService(on: loop) { loop in
        let me = PeerInfo(id: .random(), name: "world", application: "world")
        try await Session.host(as: me, on: [.loopback4], seats: 100, loop: loop) { session, port in
          opened.yield(port)
          try await serve(session)
        }
      }
      let group = ServiceGroup(
        services: [server], gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
      async let running: Void = group.run()
      for await port in ports {
        let endpoint = Endpoint(.loopback4, port: port)
        let count = try await watch(at: endpoint, for: .seconds(2), on: loop)
        print("the client sees \(count) of 200 walkers")
        guard (1..<200).contains(count) else { fatalError("expected the near walkers only") }
        break
      }
      await group.triggerGracefulShutdown()
      try await running
    }
  }
}
