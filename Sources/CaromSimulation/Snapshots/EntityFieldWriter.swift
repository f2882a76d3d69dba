/// Writes an entity's values, field by field. Each value is rounded to the field's step and clamped
/// to its bounds.
public struct EntityFieldWriter: Sendable {
  private let fields: [EntityField]
  private(set) var values: [Int64] = []

  init(schema: EntitySchema) {
    fields = schema.fields
    values.reserveCapacity(fields.count)
  }

  mutating func removeAll() { values.removeAll(keepingCapacity: true) }

  private var next: EntityField {
    precondition(values.count < fields.count, "more values than fields in the schema")
    return fields[values.count]
  }

  /// Writes the next field, given as a quantity in the field's unit, such as meters or radians.
  public mutating func write(_ value: Double) { values.append(next.quantized(value)) }

  /// Writes the next field, given as a number of the field's steps.
  public mutating func write(_ value: some BinaryInteger) {
    values.append(next.clamped(Int64(clamping: value)))
  }

  /// Writes the next field as a Boolean.
  public mutating func write(_ value: Bool) { write(value ? 1 : 0) }
}
