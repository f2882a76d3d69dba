import Carom
import CaromServer
import Logging
import ServiceLifecycle

/// A walker as clients see it: its position on a field of 100 by 100 m, in steps of 1 cm.
let schema = EntitySchema(.position(0...100, step: 0.01), .position(0...100, step: 0.01))

/// A snapshot or an acknowledgement, already encoded.
struct Encoded: PacketCodable {
  var bytes: [UInt8]

  func encode(into writer: inout PacketWriter) { writer.write(bytes) }
  init(_ bytes: [UInt8]) { self.bytes = bytes }
  init(decoding reader: inout PacketReader) { bytes = reader.readRest() }
}

/// The server sends snapshots; clients acknowledge them.
extension MessageChannel<Encoded> {
  static var snapshots: Self { .init(0, .unreliableSequenced) }
  static var acknowledgements: Self { .init(1, .unreliableSequenced) }
}

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
func serve(_ session: Session, on loop: NetworkLoop) async throws {
  let area = InterestArea(within: 25)
  var world = WorldReplicator(
    WorldConfiguration(schema: schema, area: area, ticksPerSecond: 20, bandwidth: 16_000))
  var walkers = Walkers()
  var clients: [(peer: Peer, id: WorldReplicator.ClientID)] = []
  for await step in FixedStep(hertz: 20, on: loop) {
    while let event = session.poll() {
      switch event {
      case .joined(let peer):
        let id = world.addClient()
        world.setFocus(x: 50, y: 50, for: id)
        clients.append((peer, id))
      case .left(let peer, _):
        for client in clients where client.peer == peer { world.removeClient(client.id) }
        clients.removeAll { $0.peer == peer }
      default: break
      }
    }
    for received in session.takeMessages(on: .acknowledgements) {
      guard let client = clients.first(where: { $0.peer == received.peer }) else { continue }
      var reader = PacketReader(received.message.bytes.span)
      let sent = world.sentTick(of: client.id) ?? .zero
      world.acknowledge(try SnapshotAcknowledgement(decoding: &reader, sent: sent), from: client.id)
    }
    walkers.step(&world)
    world.advance(to: step.tick)
    for client in clients where world.writeSnapshot(for: client.id) {
      _ = client.peer.post(Encoded(world.snapshot(for: client.id)), on: .snapshots)
    }
  }
}

/// Receives snapshots for `duration`; returns how many walkers are known at the end.
func watch(
  at endpoint: Endpoint, for duration: Duration, on loop: NetworkLoop
) async throws -> Int {
  let me = PeerInfo(id: .random(), name: "viewer", application: "world")
  return try await Session.join([endpoint], as: me, loop: loop) { session, host in
    var receiver = SnapshotReceiver(schema: schema)
    let end = loop.now + duration
    for await snapshot in session.messages(on: .snapshots) {
      if try receiver.receive(snapshot.message.bytes.span) {
        var writer = PacketWriter()
        receiver.acknowledgement.encode(into: &writer)
        _ = host.post(Encoded(writer.bytes), on: .acknowledgements)
      }
      if loop.now >= end { break }
    }
    return receiver.entities.count
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
          try await serve(session, on: loop)
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
