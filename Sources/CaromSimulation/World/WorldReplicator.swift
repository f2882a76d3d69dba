/// A server's world and its clients: takes what entities are, and writes for each client a snapshot
/// of what it sees, in as few bytes and no more than it may get.
///
/// ```swift
/// var world = WorldReplicator(WorldConfiguration(schema: Tank.schema))
/// let client = world.addClient()
/// for (id, tank) in tanks { world.set(id, tank) }         // each tick, or only what changed
/// world.advance(to: tick)
/// if world.writeSnapshot(for: client) { send(world.snapshot(for: client)) }
/// world.acknowledge(acknowledgement, from: client)        // whenever one comes
/// ```
/// A tick in which nothing changes takes time for each client, not for each entity; and what
/// changed is looked at for those alone who see it.
public struct WorldReplicator: Sendable {
  /// One of the clients.
  public struct ClientID: Hashable, Sendable {
    let index: Int
    let number: Int
  }

  /// What clients get.
  public let configuration: WorldConfiguration
  /// The tick that the world stands at.
  public private(set) var tick = Tick.zero

  private var entities: WorldEntities
  var clients: [WorldClient?] = []
  private var numbers: [Int] = []
  private var writer: EntityFieldWriter

  /// An empty world.
  public init(_ configuration: WorldConfiguration) {
    self.configuration = configuration
    entities = WorldEntities(schema: configuration.schema, area: configuration.area)
    writer = EntityFieldWriter(schema: configuration.schema)
  }

  // MARK: - Entities

  /// How many entities there are.
  public var count: Int { entities.count }

  /// Takes an entity as it is now, new or known. What did not change costs nothing further.
  public mutating func set(_ id: UInt32, _ entity: some ReplicatedEntity) {
    writer.removeAll()
    entity.encode(into: &writer)
    entities.set(id, writer.values)
  }

  /// Takes an entity's values in steps, within their bounds.
  public mutating func set(_ id: UInt32, values: [Int64]) {
    for (value, field) in zip(values, configuration.schema.fields) {
      precondition(
        value >= field.lowerBound && value <= field.upperBound, "values within their bounds")
    }
    entities.set(id, values)
  }

  /// Takes an entity out of the world; false where there is none of that id.
  @discardableResult
  public mutating func remove(_ id: UInt32) -> Bool { entities.remove(id) }

  // MARK: - Clients

  /// A client that knows nothing yet.
  public mutating func addClient() -> ClientID {
    let client = WorldClient(configuration)
    if let index = clients.firstIndex(where: { $0 == nil }) {
      clients[index] = client
      numbers[index] += 1
      return ClientID(index: index, number: numbers[index])
    }
    clients.append(client)
    numbers.append(0)
    return ClientID(index: clients.count - 1, number: 0)
  }

  /// Forgets a client.
  public mutating func removeClient(_ id: ClientID) {
    guard holds(id) else { return }
    clients[id.index] = nil
  }

  private func holds(_ id: ClientID) -> Bool {
    clients.indices.contains(id.index) && numbers[id.index] == id.number
      && clients[id.index] != nil
  }

  /// Where a client looks from, in what positions are given in. Before the first, it sees
  /// everything.
  public mutating func setFocus(x: Double, y: Double, for id: ClientID) {
    guard let area = configuration.area, holds(id) else { return }
    let fields = configuration.schema.fields
    let place = (
      x: fields[area.positionField].quantized(x), y: fields[area.positionField + 1].quantized(y)
    )
    clients[id.index]?.setFocus(place)
  }

  /// Takes what a client says it has.
  public mutating func acknowledge(
    _ acknowledgement: SnapshotAcknowledgement, from id: ClientID
  ) {
    guard holds(id) else { return }
    clients[id.index]?.sender.acknowledge(acknowledgement)
    if acknowledgement.wantsKeyframe { clients[id.index]?.wake() }
  }

  /// The client has the snapshot of that tick.
  public mutating func acknowledge(_ tick: Tick, from id: ClientID) {
    guard holds(id) else { return }
    clients[id.index]?.sender.acknowledge(tick)
  }

  /// The tick of the newest snapshot that was written for a client.
  public func sentTick(of id: ClientID) -> Tick? {
    holds(id) ? clients[id.index]?.sender.sentTick : nil
  }

  // MARK: - Ticks

  /// The entities are now what they are at that tick, newer than the last.
  public mutating func advance(to next: Tick) {
    precondition(tick < next || tick == .zero, "ticks go on")
    tick = next
    wakeClients()
    entities.clearDirty()
  }

  /// Those who sleep are told of what changed, until something is their business.
  private mutating func wakeClients() {
    guard !entities.dirty.isEmpty else { return }
    for index in clients.indices where clients[index]?.isAwake == false {
      for slot in entities.dirty
      where clients[index]?.concerns(Int(slot), entities, configuration) == true {
        clients[index]?.wake()
        break
      }
    }
  }

  /// Writes the snapshot of this tick for a client, once a tick; false where there is nothing to
  /// send.
  public mutating func writeSnapshot(for id: ClientID) -> Bool {
    guard holds(id) else { return false }
    return clients[id.index]?.write(entities, configuration, at: tick) ?? false
  }

  /// What `writeSnapshot(for:)` wrote last.
  public func snapshot(for id: ClientID) -> [UInt8] {
    holds(id) ? clients[id.index]?.sender.bytes ?? [] : []
  }
}

extension WorldReplicator {
  /// Counts from now on what the models of each client's snapshots meet.
  package mutating func startTraining() {
    for index in clients.indices {
      clients[index]?.sender.training = SnapshotTraining(schema: configuration.schema)
    }
  }

  /// What was counted, a client after the other.
  package var training: [SnapshotTraining] { clients.compactMap { $0?.sender.training } }
}
