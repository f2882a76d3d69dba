/// A world's entities with their current values, and the set of entities that changed since the
/// last tick.
struct WorldEntities: Sendable {
  let schema: EntitySchema
  /// The slot of each id. The dictionary is never iterated, because its order is not deterministic.
  private var slots: [UInt32: Int] = [:]
  private var free: [Int] = []
  private(set) var ids: [UInt32] = []
  /// Whether each slot holds an entity.
  private(set) var isPresent: [Bool] = []
  private(set) var values: [Int64] = []
  private var isDirty: [Bool] = []
  /// The slots that changed, were added or were removed since the last `clearDirty()`.
  private(set) var dirty: [Int32] = []
  /// A counter that increases whenever an entity is added or removed and, in a world with an area
  /// of interest, whenever an entity changes.
  private(set) var placement = 0
  private(set) var grid: InterestGrid?
  private let positionField: Int

  init(schema: EntitySchema, area: InterestArea?) {
    self.schema = schema
    positionField = area?.positionField ?? 0
    guard let area else { return }
    precondition(
      positionField + 1 < schema.fields.count,
      "the position needs two consecutive fields of the schema")
    let x = schema.fields[positionField]
    let reach = Int64(area.radius / x.step / 2)
    // A cell is half a radius wide, or wider if the limit on cells requires it.
    let widest = max(x.span, schema.fields[positionField + 1].span)
    grid = InterestGrid(
      x: x, y: schema.fields[positionField + 1], cellSize: max(reach, widest / 255 + 1))
  }

  var count: Int { ids.count - free.count }

  func slot(of id: UInt32) -> Int? { slots[id] }

  /// Returns the position of an entity, in steps.
  func place(_ slot: Int) -> (x: Int64, y: Int64) {
    let start = slot * schema.fields.count + positionField
    return (values[start], values[start + 1])
  }

  /// Sets an entity's values, adding the entity if it is new.
  mutating func set(_ id: UInt32, _ new: [Int64]) {
    precondition(
      new.count == schema.fields.count, "there must be one value for each field of the schema")
    let slot = slots[id] ?? makeSlot(id)
    let start = slot * new.count
    var changes = false
    for index in new.indices where values[start + index] != new[index] {
      values[start + index] = new[index]
      changes = true
    }
    guard changes || !isPresent[slot] else { return }
    if !isPresent[slot] { placement += 1 }
    isPresent[slot] = true
    mark(slot)
    guard grid != nil else { return }
    let (x, y) = place(slot)
    grid?.place(slot, x: x, y: y)
    placement += 1
  }

  private mutating func makeSlot(_ id: UInt32) -> Int {
    defer { placement += 1 }
    if let slot = free.popLast() {
      slots[id] = slot
      ids[slot] = id
      return slot
    }
    ids.append(id)
    isPresent.append(false)
    isDirty.append(false)
    values.append(contentsOf: repeatElement(0, count: schema.fields.count))
    slots[id] = ids.count - 1
    return ids.count - 1
  }

  /// Removes an entity. Returns false if no entity has this id.
  mutating func remove(_ id: UInt32) -> Bool {
    guard let slot = slots.removeValue(forKey: id) else { return false }
    isPresent[slot] = false
    grid?.remove(slot)
    free.append(slot)
    mark(slot)
    placement += 1
    return true
  }

  private mutating func mark(_ slot: Int) {
    guard !isDirty[slot] else { return }
    isDirty[slot] = true
    dirty.append(Int32(slot))
  }

  /// Clears the list of changed slots.
  mutating func clearDirty() {
    for slot in dirty { isDirty[Int(slot)] = false }
    dirty.removeAll(keepingCapacity: true)
  }
}
