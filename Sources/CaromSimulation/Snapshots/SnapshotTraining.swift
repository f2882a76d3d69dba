/// Counts the bits that each model codes, to compute the models' initial probabilities.
package struct SnapshotTraining: Sendable, DeltaCoder {
  /// The number of clear bits, indexed by model.
  private var clear: [Double]
  /// The number of set bits, indexed by model.
  private var set: [Double]
  private let modelSets: [Bool]

  /// Creates statistics for the snapshots of one schema.
  package init(schema: EntitySchema) {
    let count = SnapshotModels.fields + schema.modelSetCount * SnapshotModels.setCount
    clear = Array(repeating: 0, count: count)
    set = clear
    modelSets = (0..<schema.modelSetCount).map { number in
      let field = schema.modelSets.firstIndex(of: number) ?? 0
      return schema.fields[field].prediction == .linear
    }
  }

  var failed: Bool { false }

  mutating func fail() {}

  mutating func flag(
    _ bit: Bool, _ model: Int, _ models: inout MutableSpan<RangeModel>
  ) -> Bool {
    if bit { set[model] += 1 } else { clear[model] += 1 }
    return bit
  }

  mutating func bits(_ value: UInt64, _ count: Int) -> UInt64 { value }

  mutating func number(
    _ value: UInt64, _ model: Int, _ models: inout MutableSpan<RangeModel>, order: Int
  ) -> UInt64 {
    count(value, model, &models)
    return value
  }

  mutating func residual(
    _ value: Int64, _ model: Int, _ models: inout MutableSpan<RangeModel>, order: Int
  ) -> Int64 {
    count(value.magnitude, model, &models)
    return value
  }

  private mutating func count(
    _ magnitude: UInt64, _ model: Int, _ models: inout MutableSpan<RangeModel>
  ) {
    guard flag(magnitude != 0, model, &models) else { return }
    let exponent = 63 - magnitude.leadingZeroBitCount
    for index in 0..<exponent { _ = flag(true, model + DeltaBins.unaryModel(index), &models) }
    _ = flag(false, model + DeltaBins.unaryModel(exponent), &models)
    guard exponent > 0 else { return }
    _ = flag(
      magnitude >> UInt64(exponent - 1) & 1 == 1, model + DeltaBins.topModel(exponent), &models)
  }

  /// Returns three tables of initial probabilities, computed from weighted statistics: for the
  /// common models, for linear fields and for held fields.
  package static func tables(_ counted: [(training: SnapshotTraining, weight: Double)])
    -> [[UInt16]]
  {
    var common = Sums(count: SnapshotModels.fields)
    var fields = [false: Sums(count: SnapshotModels.setCount)]
    fields[true] = fields[false]
    for (training, weight) in counted {
      common.add(training, 0, weight)
      for (number, isLinear) in training.modelSets.enumerated() {
        let start = SnapshotModels.fields + number * SnapshotModels.setCount
        fields[isLinear]?.add(training, start, weight)
      }
    }
    return [
      common.probabilities(period: SnapshotModels.fields),
      fields[true]?.probabilities(period: DeltaBins.count) ?? [],
      fields[false]?.probabilities(period: DeltaBins.count) ?? [],
    ]
  }

  private struct Sums {
    var clear: [Double]
    var set: [Double]

    init(count: Int) {
      clear = Array(repeating: 0, count: count)
      set = clear
    }

    mutating func add(_ training: SnapshotTraining, _ start: Int, _ weight: Double) {
      for index in clear.indices {
        clear[index] += weight * training.clear[start + index]
        set[index] += weight * training.set[start + index]
      }
    }

    /// Returns, for each model, the probability of a set bit, in units of 2^-16. Each context has
    /// `period` models. The probability of a model with few observations is pulled towards the mean
    /// of the corresponding models in all contexts.
    func probabilities(period: Int) -> [UInt16] {
      var prior: [Double] = []
      for place in 0..<period {
        var sum = (clear: 0.5, set: 0.5)
        for index in stride(from: place, to: clear.count, by: period) {
          sum.clear += clear[index]
          sum.set += set[index]
        }
        prior.append(sum.set / (sum.clear + sum.set))
      }
      return clear.indices.map { index in
        let strength = period == clear.count ? 0 : 24.0
        let near = prior[index % period] * strength
        let total = clear[index] + set[index] + strength + 1
        let value = (set[index] + near + 0.5) / total
        return UInt16(min(max(value, 0.002), 0.998) * 65_536)
      }
    }
  }
}
