/// Replicates a server's world to its clients. It stores the current state of every entity. For
/// each client it encodes a snapshot of the entities visible to that client, within the client's
/// bandwidth.
///
/// ```swift
/// var world = WorldReplicator(WorldConfiguration(schema: Tank.schema))
/// let client = world.addClient()
/// for (id, tank) in tanks { world.set(id, tank) }         // each tick, or only what changed
/// world.advance(to: tick)
/// if world.writeSnapshot(for: client) { send(world.snapshot(for: client)) }
/// world.acknowledge(acknowledgement, from: client)        // when one arrives
/// ```
///
/// A tick without changes takes time proportional to the number of clients, not of entities, and a
/// changed entity is examined only for the clients that see it.
public struct WorldReplicator: Sendable {
  /// Identifies a client of the world.
  public struct ClientID: Hashable, Sendable {
    let index: Int
    let number: Int
  }

  /// The configuration of the world.
  public let configuration: WorldConfiguration
  /// The current tick of the world.
  public private(set) var tick = Tick.zero

  private var entities: WorldEntities
  var clients: [WorldClient?] = []
  private var numbers: [Int] = []
  private var writer: EntityFieldWriter

  /// Creates an empty world.
  public init(_ configuration: WorldConfiguration) {
    self.configuration = configuration
    entities = WorldEntities(schema: configuration.schema, area: configuration.area)
    writer = EntityFieldWriter(schema: configuration.schema)
  }

  // MARK: - Entities

  /// The number of entities.
  public var count: Int { entities.count }

  /// Sets an entity's current state, adding the entity if it is new. Fields that did not change
  /// take no bandwidth.
  public mutating func set(_ id: UInt32, _ entity: some ReplicatedEntity) {
    writer.removeAll()
    entity.encode(into: &writer)
    entities.set(id, writer.values)
  }

  /// Sets an entity's values, in steps. Each value must be within the bounds of its field.
  public mutating func set(_ id: UInt32, values: [Int64]) {
    for (value, field) in zip(values, configuration.schema.fields) {
      precondition(
        value >= field.lowerBound && value <= field.upperBound,
        "values must be within the bounds of their fields")
    }
    entities.set(id, values)
  }

  /// Removes an entity. Returns false if no entity has this id.
  @discardableResult
  public mutating func remove(_ id: UInt32) -> Bool { entities.remove(id) }

  // MARK: - Clients

  /// Adds a client, which starts without any entities, and returns its id.
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

  /// Removes a client. Ignores an id that is no longer valid.
  public mutating func removeClient(_ id: ClientID) {
    guard holds(id) else { return }
    clients[id.index] = nil
  }

  private func holds(_ id: ClientID) -> Bool {
    clients.indices.contains(id.index) && numbers[id.index] == id.number
      && clients[id.index] != nil
  }

  /// Sets the center of a client's area of interest, in the unit of the position fields. Before the
  /// first call the client receives every entity.
  public mutating func setFocus(x: Double, y: Double, for id: ClientID) {
    guard let area = configuration.area, holds(id) else { return }
    let fields = configuration.schema.fields
    let place = (
      x: fields[area.positionField].quantized(x), y: fields[area.positionField + 1].quantized(y)
    )
    clients[id.index]?.setFocus(place)
  }

  /// Processes an acknowledgement from a client.
  public mutating func acknowledge(
    _ acknowledgement: SnapshotAcknowledgement, from id: ClientID
  ) {
    guard holds(id) else { return }
    clients[id.index]?.sender.acknowledge(acknowledgement)
    if acknowledgement.wantsKeyframe { clients[id.index]?.wake() }
  }

  /// Records that a client has the snapshot of `tick`.
  public mutating func acknowledge(_ tick: Tick, from id: ClientID) {
    guard holds(id) else { return }
    clients[id.index]?.sender.acknowledge(tick)
  }

  /// Returns the tick of the newest snapshot written for a client, or nil if there is none.
  public func sentTick(of id: ClientID) -> Tick? {
    holds(id) ? clients[id.index]?.sender.sentTick : nil
  }

  // MARK: - Ticks

  /// Advances the world to a tick, which must be later than the current one. The entities' current
  /// values become their values at that tick.
  public mutating func advance(to next: Tick) {
    precondition(tick < next || tick == .zero, "the new tick must be later than the last one")
    tick = next
    wakeClients()
    entities.clearDirty()
  }

  /// Wakes each idle client that sees a changed entity or is about to see one.
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

  /// Writes the snapshot of the current tick for a client. Call this method at most once per tick
  /// and client. Returns false if there is nothing to send.
  public mutating func writeSnapshot(for id: ClientID) -> Bool {
    guard holds(id) else { return false }
    return clients[id.index]?.write(entities, configuration, at: tick) ?? false
  }

  /// Returns the bytes written by the last call to `writeSnapshot(for:)` for this client.
  public func snapshot(for id: ClientID) -> [UInt8] {
    holds(id) ? clients[id.index]?.sender.bytes ?? [] : []
  }
}

extension WorldReplicator {
  /// Starts collecting statistics for training the models, for every client.
  package mutating func startTraining() {
    for index in clients.indices {
      clients[index]?.sender.training = SnapshotTraining(schema: configuration.schema)
    }
  }

  /// The statistics collected for training the models, one per client.
  package var training: [SnapshotTraining] { clients.compactMap { $0?.sender.training } }
}
