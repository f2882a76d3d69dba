/// The indexes of the models for each kind of symbol. A symbol that is a number has
/// `DeltaBins.count` models, and the constant is the index of the first one.
enum SnapshotModels {
  /// The model for the bit that says whether the header has the long form.
  static let isLong = 0
  /// The model for the bit that says whether the header names views in addition to the baseline.
  static let isNaming = 1
  /// The model for the bit that says whether the header names the view of a given tick.
  static let isNamed = 2
  /// The model for the bit that says whether the snapshot adds or removes any entity.
  static let changesMembers = 3
  /// The model for the bit that says whether the snapshot is partial.
  static let isPartial = 4
  /// The first model for the age of the baseline in the short form.
  static let age = 8
  /// The first model for the number of entities that leave, the number that enter, and the age of
  /// the baseline in the long form.
  static let members = age + DeltaBins.count
  /// The first model for the gap between two consecutive entities that leave or enter.
  static let gap = members + DeltaBins.count
  /// The first model for the complete tick of the snapshot, in the long form.
  static let tick = gap + DeltaBins.count
  /// The first model for the bit that says whether an entity's values follow.
  static let isIncluded = tick + DeltaBins.count
  /// The number of models for the bit that says whether an entity's values follow, one for each
  /// context.
  static let includedContexts = 32
  /// The index of the first model in the first field's model set.
  static let fields = isIncluded + includedContexts
  /// The number of classes into which a field's activity is divided.
  static let classes = 10
  /// The number of contexts for the change of the previous field, which was as expected, larger or
  /// smaller.
  static let surprises = 3
  /// The number of models in a field's model set.
  static let setCount = classes * surprises * DeltaBins.count

  /// Returns the initial models for a schema.
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
