/// Where each kind of symbol has its models.
enum SnapshotModels {
  /// Whether a snapshot is of the long form.
  static let isLong = 0
  /// Whether views beside the base are named.
  static let isNaming = 1
  /// Whether the view of a tick is named.
  static let isNamed = 2
  /// Whether anybody enters or leaves.
  static let changesMembers = 3
  /// Whether something was held back.
  static let isPartial = 4
  /// The age of the base.
  static let age = 8
  /// How many leave, or enter.
  static let members = age + DeltaBins.count
  /// The distance from one of them to the next.
  static let gap = members + DeltaBins.count
  /// A tick in full.
  static let tick = gap + DeltaBins.count
  /// Whether a member's values follow.
  static let isIncluded = tick + DeltaBins.count
  /// Contexts of that.
  static let includedContexts = 32
  /// The first set for fields.
  static let fields = isIncluded + includedContexts
  /// Classes of a field's activity.
  static let classes = 10
  /// What the field before did, beside what was expected of it: nothing special, more, less.
  static let surprises = 3
  /// Models of a set.
  static let setCount = classes * surprises * DeltaBins.count

  /// The models that a schema's snapshots start from.
  static func shipped(for schema: EntitySchema) -> [RangeModel] {
    var models = Array(repeating: RangeModel(1 << 15), count: fields)
    for index in 0..<fields { models[index] = RangeModel(SnapshotModelTable.common[index]) }
    for set in 0..<schema.modelSetCount {
      let field = schema.modelSets.firstIndex(of: set) ?? 0
      let isLinear = schema.fields[field].prediction == .linear
      let table = isLinear ? SnapshotModelTable.linear : SnapshotModelTable.held
      for start in table { models.append(RangeModel(start)) }
    }
    return models
  }
}
