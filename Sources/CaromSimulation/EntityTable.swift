/// Entities and their values at one moment, in the order of their ids: what a server replicates and
/// a client receives.
public struct EntityTable: Hashable, Sendable {
  /// What the values mean.
  public let schema: EntitySchema
  /// The ids, ascending.
  public private(set) var ids: [UInt32] = []
  /// The values in steps, one entity's fields after the other's.
  public private(set) var values: [Int64] = []

  /// No entities.
  public init(schema: EntitySchema) { self.schema = schema }

  /// How many entities there are.
  public var count: Int { ids.count }

  /// Forgets the entities and keeps the room for others.
  public mutating func removeAll() {
    ids.removeAll(keepingCapacity: true)
    values.removeAll(keepingCapacity: true)
  }

  /// Appends an entity, whose id is above the others'; values out of bounds are brought within.
  public mutating func append(_ id: UInt32, _ fields: some Collection<Int64>) {
    precondition(ids.last.map { $0 < id } ?? true, "ids ascend, each once")
    precondition(fields.count == schema.fields.count, "a value for each field")
    ids.append(id)
    for (value, field) in zip(fields, schema.fields) { values.append(field.clamped(value)) }
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
  @inline(__always) mutating func append(_ id: UInt32, from words: [Int64], at start: Int) {
    ids.append(id)
    for word in start..<start + schema.fields.count { values.append(words[word]) }
  }
}
