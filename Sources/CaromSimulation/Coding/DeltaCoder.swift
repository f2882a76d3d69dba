/// A writer or reader of a snapshot's symbols. A writer returns the value it is given and a reader
/// the value it reads, so one description of the format serves both directions.
///
/// A reader never throws. An invalid symbol sets `failed`, and reading continues with zeros. Code
/// that reads a count must check `failed` before allocating memory for that count.
///
/// The models are passed as an argument rather than stored, so that coding a bit never copies them.
protocol DeltaCoder {
  /// Whether the input contained a symbol that no writer produces.
  var failed: Bool { get }
  /// Sets `failed` to true.
  mutating func fail()
  /// Codes a Boolean with the model at index `model`.
  mutating func flag(_ bit: Bool, _ model: Int, _ models: inout MutableSpan<RangeModel>) -> Bool
  /// Codes the low `count` bits of `value`, at most 64, without a model.
  mutating func bits(_ value: UInt64, _ count: Int) -> UInt64
  /// Codes an unsigned number, typically about 2^`order`. It uses `DeltaBins.count` models, the
  /// first of which has the index `model`.
  mutating func number(
    _ value: UInt64, _ model: Int, _ models: inout MutableSpan<RangeModel>, order: Int
  ) -> UInt64
  /// Codes a signed difference whose magnitude is typically about 2^`order`. It uses
  /// `DeltaBins.count` models, the first of which has the index `model`.
  mutating func residual(
    _ value: Int64, _ model: Int, _ models: inout MutableSpan<RangeModel>, order: Int
  ) -> Int64
}

/// The binary decisions into which a number is split, each with its own model: whether it is
/// nonzero; the number of bits of its magnitude below the leading one, in unary; and the bit after
/// the leading one. The sign and the remaining bits are coded without models.
enum DeltaBins {
  /// The number of models that the coding of one number uses.
  static let count = 24
  /// The index of the first model for the number of bits, which is coded in unary.
  static let unary = 1
  /// The number of models for the number of bits. The last model codes all further unary digits.
  static let unaryCount = 15
  /// The index of the first model for the bit after the leading one.
  static let top = unary + unaryCount
  /// The number of models for the bit after the leading one.
  static let topCount = count - top
  /// The maximum number of bits below a magnitude's leading one.
  static let largestExponent = 62

  @inline(__always) static func unaryModel(_ index: Int) -> Int {
    unary + min(index, unaryCount - 1)
  }

  @inline(__always) static func topModel(_ exponent: Int) -> Int {
    top + min(exponent - 1, topCount - 1)
  }
}
