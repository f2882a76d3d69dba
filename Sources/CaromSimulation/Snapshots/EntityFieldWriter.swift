/// Takes an entity's values, field after field, and brings each to its step and within its bounds.
public struct EntityFieldWriter: Sendable {
  private let fields: [EntityField]
  private(set) var values: [Int64] = []

  init(schema: EntitySchema) {
    fields = schema.fields
    values.reserveCapacity(fields.count)
  }

  mutating func removeAll() { values.removeAll(keepingCapacity: true) }

  private var next: EntityField {
    precondition(values.count < fields.count, "a value for each field of the schema, no more")
    return fields[values.count]
  }

  /// The next field, in what its step is given in: metres, radians.
  public mutating func write(_ value: Double) { values.append(next.quantized(value)) }

  /// The next field, in whole steps.
  public mutating func write(_ value: some BinaryInteger) {
    values.append(next.clamped(Int64(clamping: value)))
  }

  /// The next field, yes or no.
  public mutating func write(_ value: Bool) { write(value ? 1 : 0) }
}
