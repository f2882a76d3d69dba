/// Gives an entity's values, field after field.
public struct EntityFieldReader: Sendable {
  private let table: EntityTable
  private var word: Int
  private var field = 0

  init(_ table: EntityTable, at index: Int) {
    self.table = table
    word = index * table.schema.fields.count
  }

  private mutating func next() -> (value: Int64, field: EntityField) {
    precondition(field < table.schema.fields.count, "no more fields than the schema has")
    defer {
      field += 1
      word += 1
    }
    return (table.values[word], table.schema.fields[field])
  }

  /// The next field, in what its step is given in: metres, radians.
  public mutating func read() -> Double {
    let (value, field) = next()
    return Double(value) * field.step
  }

  /// The next field, in whole steps.
  public mutating func read<Value: FixedWidthInteger>() -> Value { Value(clamping: next().value) }

  /// The next field, yes or no.
  public mutating func read() -> Bool { next().value != 0 }
}
