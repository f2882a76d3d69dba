/// The fields of an entity's state: what both ends of a connection have to agree on.
///
/// Fields that belong together, as the coordinates of a position do, stand beside each other: what
/// one of them does tells what to expect of the next.
public struct EntitySchema: Hashable, Sendable {
  /// The most fields of an entity.
  public static let maximumFields = 32

  /// The fields, in their order on the wire.
  public let fields: [EntityField]

  /// Index of the first velocity's word for each field; -1 where it has none.
  let velocityWords: [Int]
  /// Words of an entity's record; see `SnapshotView`.
  let stride: Int
  /// The models of which field each field uses: neighbours of one kind share them.
  let modelSets: [Int]
  /// How many sets of models there are.
  let modelSetCount: Int

  /// The schema of these fields.
  public init(_ fields: [EntityField]) {
    precondition(
      !fields.isEmpty && fields.count <= Self.maximumFields, "an entity has 1 to 32 fields")
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

  /// The schema of these fields.
  public init(_ fields: EntityField...) { self.init(fields) }

  /// A fingerprint of the fields, for both ends to compare before the first snapshot.
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

  /// Coordinates share their models.
  private static func share(_ one: EntityField, _ other: EntityField) -> Bool {
    one.prediction == .linear && other.prediction == .linear
  }

  /// The first word of the fields' activities, eight to a word.
  var activityWord: Int { stride - (fields.count + 7) / 8 }
}
