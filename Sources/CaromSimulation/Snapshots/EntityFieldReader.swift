/// Reads an entity's values, field by field.
public struct EntityFieldReader: Sendable {
  private let table: EntityTable
  private var word: Int
  private var field = 0

  init(_ table: EntityTable, at index: Int) {
    self.table = table
    word = index * table.schema.fields.count
  }

  private mutating func next() -> (value: Int64, field: EntityField) {
    precondition(field < table.schema.fields.count, "more reads than fields in the schema")
    defer {
      field += 1
      word += 1
    }
    return (table.values[word], table.schema.fields[field])
  }

  /// Reads the next field as a quantity in the field's unit, such as meters or radians.
  public mutating func read() -> Double {
    let (value, field) = next()
    return Double(value) * field.step
  }

  /// Reads the next field as a number of steps, clamped to the result type.
  public mutating func read<Value: FixedWidthInteger>() -> Value { Value(clamping: next().value) }

  /// Reads the next field as a Boolean.
  public mutating func read() -> Bool { next().value != 0 }
}
