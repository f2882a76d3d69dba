/// Entities and their values at one moment, in the order of their ids: what a server replicates and
/// a client receives.
public struct EntityTable: Sendable {
  /// What the values mean.
  public let schema: EntitySchema
  /// The ids, ascending.
  public private(set) var ids: [UInt32] = []
  /// The values in steps, one entity's fields after the other's.
  public private(set) var values: [Int64] = []

  private var writer: EntityFieldWriter

  /// No entities.
  public init(schema: EntitySchema) {
    self.schema = schema
    writer = EntityFieldWriter(schema: schema)
  }

  /// How many entities there are.
  public var count: Int { ids.count }

  /// Forgets the entities and keeps the room for others.
  public mutating func removeAll() {
    ids.removeAll(keepingCapacity: true)
    values.removeAll(keepingCapacity: true)
  }

  /// Makes room for that many.
  mutating func reserve(_ count: Int) {
    ids.reserveCapacity(count)
    values.reserveCapacity(count * schema.fields.count)
  }

  /// Appends an entity, whose id is above the others'; values, in steps, are brought within bounds.
  public mutating func append(_ id: UInt32, _ fields: [Int64]) {
    precondition(ids.last.map { $0 < id } ?? true, "ids ascend, each once")
    precondition(fields.count == schema.fields.count, "a value for each field")
    ids.append(id)
    for index in fields.indices { values.append(schema.fields[index].clamped(fields[index])) }
  }

  /// Appends an entity, whose id is above the others'.
  public mutating func append(_ id: UInt32, _ entity: some ReplicatedEntity) {
    precondition(ids.last.map { $0 < id } ?? true, "ids ascend, each once")
    writer.removeAll()
    entity.encode(into: &writer)
    precondition(writer.values.count == schema.fields.count, "a value for each field")
    ids.append(id)
    values.append(contentsOf: writer.values)
  }

  /// The entity at `index`.
  public func entity<Entity: ReplicatedEntity>(
    _ type: Entity.Type = Entity.self, at index: Int
  ) -> Entity {
    var reader = EntityFieldReader(self, at: index)
    return Entity(decoding: &reader)
  }

  /// The value of a field of the entity at `index`.
  public func value(_ field: Int, at index: Int) -> Int64 {
    values[index * schema.fields.count + field]
  }

  /// Where an id stands, or would stand.
  public func index(of id: UInt32) -> (index: Int, isFound: Bool) {
    var low = 0
    var high = ids.count
    while low < high {
      let middle = (low + high) / 2
      if ids[middle] < id { low = middle + 1 } else { high = middle }
    }
    return (low, low < ids.count && ids[low] == id)
  }

  /// Appends an entity whose values are within their bounds.
  @inline(__always) mutating func append(_ id: UInt32, from words: Span<Int64>, at start: Int) {
    ids.append(id)
    for word in start..<start &+ schema.fields.count { values.append(words[word]) }
  }
}

extension EntityTable: Hashable {
  /// Whether the same entities have the same values.
  public static func == (one: EntityTable, other: EntityTable) -> Bool {
    one.ids == other.ids && one.values == other.values && one.schema == other.schema
  }

  /// Ids and values.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(ids)
    hasher.combine(values)
  }
}
