import Carom

// The examples of the page Worlds. Each is repeated there.

struct Walker: ReplicatedEntity {
  static let schema = EntitySchema(
    .position(0...100, step: 0.01), .position(0...100, step: 0.01), .flag)
  var x: Double
  var y: Double
  var isTired = false

  func encode(into fields: inout EntityFieldWriter) {
    fields.write(x)
    fields.write(y)
    fields.write(isTired)
  }

  init(x: Double, y: Double) { (self.x, self.y) = (x, y) }
  init(decoding fields: inout EntityFieldReader) {
    (x, y) = (fields.read(), fields.read())
    isTired = fields.read()
  }
}

struct Camera: Codable { var x: Double, y: Double }

extension MessageChannel<Camera> { static var cameras: Self { .init(2, .unreliableSequenced) } }

func serveWalkers(_ walkers: [UInt32: Walker], over session: Session) async throws {
  var walkers = walkers
  let world = WorldReplicator(
    WorldConfiguration(
      schema: Walker.schema, area: InterestArea(within: 25), ticksPerSecond: 20, bandwidth: 16_000))
  try await world.run(over: session) { hosted in
    for camera in session.takeMessages(on: .cameras) {
      hosted.setFocus(x: camera.message.x, y: camera.message.y, for: camera.peer)
    }
    for (id, var walker) in walkers {
      walker.x += 0.1
      walkers[id] = walker.x < 100 ? walker : nil
      if walker.x < 100 { hosted.world.set(id, walker) } else { hosted.world.remove(id) }
    }
  }
}

func watchWalkers(
  over session: Session, from host: Peer, draw: (UInt32, Walker) -> Void
) async throws {
  let view = JoinedWorld(host, schema: Walker.schema, over: session)
  _ = host.post(Camera(x: 50, y: 50), on: .cameras)
  for await _ in view.updates {
    for index in 0..<view.entities.count {
      draw(view.entities.ids[index], view.entities.entity(at: index))
    }
  }
}

/// A snapshot or an acknowledgement, already encoded.
struct Encoded: PacketCodable {
  var bytes: [UInt8]

  func encode(into writer: inout PacketWriter) { writer.write(bytes) }
  init(_ bytes: [UInt8]) { self.bytes = bytes }
  init(decoding reader: inout PacketReader) { bytes = reader.readRest() }
}

extension MessageChannel<Encoded> {
  static var snapshots: Self { .init(0, .unreliableSequenced) }
  static var acknowledgements: Self { .init(1, .unreliableSequenced) }
}

/// A world of walkers, and the peers that watch it.
struct WalkerServer {
  var walkers: [UInt32: Walker]
  var world = WorldReplicator(
    WorldConfiguration(
      schema: Walker.schema,
      area: InterestArea([InterestTier(within: 10), InterestTier(within: 25, every: 4)]),
      ticksPerSecond: 20, bandwidth: 16_000))
  var clients: [Peer: WorldReplicator.ClientID] = [:]

  mutating func run(over session: Session, on loop: NetworkLoop) async {
    for await step in FixedStep(hertz: 20, on: loop) {
      while let event = session.poll() { handle(event) }
      for received in session.takeMessages(on: .acknowledgements)
      where !acknowledge(received.message, from: received.peer) {
        await received.peer.kick("malformed acknowledgement")
      }
      simulate()
      for (id, walker) in walkers { world.set(id, walker) }
      world.advance(to: step.tick)
      for (peer, client) in clients where world.writeSnapshot(for: client) {
        // A snapshot that is not accepted is lost like one on the way: the next one replaces it.
        _ = peer.post(Encoded(world.snapshot(for: client)), on: .snapshots)
      }
    }
  }

  mutating func handle(_ event: PeerEvent) {
    switch event {
    case .joined(let peer):
      let client = world.addClient()
      world.setFocus(x: 50, y: 50, for: client)
      clients[peer] = client
    case .left(let peer, _):
      if let client = clients.removeValue(forKey: peer) { world.removeClient(client) }
    default: break
    }
  }

  /// Returns false if the message is malformed.
  mutating func acknowledge(_ message: Encoded, from peer: Peer) -> Bool {
    guard let client = clients[peer], let sent = world.sentTick(of: client) else { return true }
    var reader = PacketReader(message.bytes.span)
    guard let decoded = try? SnapshotAcknowledgement(decoding: &reader, sent: sent) else {
      return false
    }
    world.acknowledge(decoded, from: client)
    return true
  }

  mutating func simulate() {
    for id in walkers.keys { walkers[id]?.x += 0.1 }
  }
}

func watch(_ session: Session, from host: Peer, draw: (UInt32, Walker) -> Void) async throws {
  var receiver = SnapshotReceiver(schema: Walker.schema)
  for await snapshot in session.messages(on: .snapshots) {
    guard try receiver.receive(snapshot.message.bytes.span) else { continue }  // an old one
    var writer = PacketWriter()
    receiver.acknowledgement.encode(into: &writer)
    _ = host.post(Encoded(writer.bytes), on: .acknowledgements)
    for index in 0..<receiver.entities.count {
      draw(receiver.entities.ids[index], receiver.entities.entity(at: index))
    }
  }
}
