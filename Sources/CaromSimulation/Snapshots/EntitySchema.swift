/// The fields of an entity, in order. Both ends of a connection must use the same schema.
///
/// Place related fields, such as the coordinates of a position, next to each other: the encoding
/// uses one field's change to predict the change of the next.
public struct EntitySchema: Hashable, Sendable {
  /// The maximum number of fields in an entity.
  public static let maximumFields = 32

  /// The fields, in the order in which they are encoded.
  public let fields: [EntityField]

  /// For each field, the index of its velocity word in the record, or -1 if the field has none.
  let velocityWords: [Int]
  /// The number of words in an entity's record; see `EntityRecord`.
  let stride: Int
  /// For each field, the index of its model set. Neighboring linear fields share a set.
  let modelSets: [Int]
  /// The number of distinct model sets in `modelSets`.
  let modelSetCount: Int

  /// Creates a schema with the given fields. There must be at least one, and at most
  /// `maximumFields`.
  public init(_ fields: [EntityField]) {
    precondition(
      !fields.isEmpty && fields.count <= Self.maximumFields, "an entity must have 1 to 32 fields")
    self.fields = fields
    var word = EntityRecord.valueWord + fields.count
    velocityWords = fields.map { field in
      guard field.prediction == .linear else { return -1 }
      defer { word += 1 }
      return word
    }
    stride = word + (fields.count + 7) / 8
    var sets: [Int] = []
    for (index, field) in fields.enumerated() {
      let continues = index > 0 && Self.share(fields[index - 1], field)
      sets.append((sets.last ?? -1) + (continues ? 0 : 1))
    }
    modelSets = sets
    modelSetCount = (sets.last ?? 0) + 1
  }

  /// Creates a schema with the given fields. There must be at least one, and at most
  /// `maximumFields`.
  public init(_ fields: EntityField...) { self.init(fields) }

  /// A hash of the fields, which both ends can compare before the first snapshot.
  public var fingerprint: UInt64 {
    var hash = StateHash()
    for field in fields {
      hash.combine(field.lowerBound)
      hash.combine(field.upperBound)
      hash.combine(UInt64(field.prediction.rawValue) | (field.wraps ? 256 : 0))
      hash.combine(field.step.bitPattern)
    }
    return hash.value
  }

  /// Returns whether two neighboring fields share a model set, as coordinates do.
  private static func share(_ one: EntityField, _ other: EntityField) -> Bool {
    one.prediction == .linear && other.prediction == .linear
  }

  /// The index of the first activity word. Each word holds the activities of eight fields.
  var activityWord: Int { stride - (fields.count + 7) / 8 }
}
