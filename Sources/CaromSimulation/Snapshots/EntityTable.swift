/// The entities and their values at one tick, in ascending order of their ids: the input of a
/// `SnapshotSender` and the output of a `SnapshotReceiver`.
public struct EntityTable: Sendable {
  /// The fields of each entity.
  public let schema: EntitySchema
  /// The ids in ascending order.
  public private(set) var ids: [UInt32] = []
  /// The values of all entities, each as a number of its field's steps. The values of one entity
  /// are contiguous, in the order of the fields.
  public private(set) var values: [Int64] = []

  private var writer: EntityFieldWriter

  /// Creates an empty table.
  public init(schema: EntitySchema) {
    self.schema = schema
    writer = EntityFieldWriter(schema: schema)
  }

  /// The number of entities.
  public var count: Int { ids.count }

  /// Removes all entities, but keeps the allocated memory.
  public mutating func removeAll() {
    ids.removeAll(keepingCapacity: true)
    values.removeAll(keepingCapacity: true)
  }

  /// Reserves memory for `count` entities.
  mutating func reserve(_ count: Int) {
    ids.reserveCapacity(count)
    values.reserveCapacity(count * schema.fields.count)
  }

  /// Appends an entity with the given values, in steps, each clamped to the bounds of its field.
  /// The id must be greater than all ids in the table.
  public mutating func append(_ id: UInt32, _ fields: [Int64]) {
    precondition(ids.last.map { $0 < id } ?? true, "ids must be unique and in ascending order")
    precondition(
      fields.count == schema.fields.count, "there must be one value for each field of the schema")
    ids.append(id)
    for index in fields.indices { values.append(schema.fields[index].clamped(fields[index])) }
  }

  /// Appends an entity's encoded values. The id must be greater than all ids in the table.
  public mutating func append(_ id: UInt32, _ entity: some ReplicatedEntity) {
    precondition(ids.last.map { $0 < id } ?? true, "ids must be unique and in ascending order")
    writer.removeAll()
    entity.encode(into: &writer)
    precondition(
      writer.values.count == schema.fields.count,
      "there must be one value for each field of the schema")
    ids.append(id)
    values.append(contentsOf: writer.values)
  }

  /// Returns the decoded entity at `index`.
  public func entity<Entity: ReplicatedEntity>(
    _ type: Entity.Type = Entity.self, at index: Int
  ) -> Entity {
    var reader = EntityFieldReader(self, at: index)
    return Entity(decoding: &reader)
  }

  /// Returns the value of one field of the entity at `index`, in steps of the field.
  public func value(_ field: Int, at index: Int) -> Int64 {
    values[index * schema.fields.count + field]
  }

  /// Returns the index of the entity `id`, or the index at which it would be inserted, and whether
  /// the table contains the entity.
  public func index(of id: UInt32) -> (index: Int, isFound: Bool) {
    var low = 0
    var high = ids.count
    while low < high {
      let middle = (low + high) / 2
      if ids[middle] < id { low = middle + 1 } else { high = middle }
    }
    return (low, low < ids.count && ids[low] == id)
  }

  /// Appends an entity whose values start at word `start` and are known to be within their bounds.
  @inline(__always) mutating func append(_ id: UInt32, from words: Span<Int64>, at start: Int) {
    ids.append(id)
    for word in start..<start &+ schema.fields.count { values.append(words[word]) }
  }
}

extension EntityTable: Hashable {
  /// Returns whether both tables contain the same entities with the same values.
  public static func == (one: EntityTable, other: EntityTable) -> Bool {
    one.ids == other.ids && one.values == other.values && one.schema == other.schema
  }

  /// Feeds the ids and values into a hasher.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(ids)
    hasher.combine(values)
  }
}
