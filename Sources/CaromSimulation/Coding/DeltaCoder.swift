/// One way of writing or reading the symbols of a snapshot. Writers return what they are given,
/// readers what they read, so that one description of the format serves both directions.
///
/// A reader never throws: what cannot be right makes it `failed`, and it goes on with zeros. Who
/// reads counts checks that before anything is made of them.
///
/// Models are an argument, since a copy of them would have to be ruled out at each bit otherwise.
protocol DeltaCoder {
  /// Whether something was read that nobody writes.
  var failed: Bool { get }
  /// Makes it so.
  mutating func fail()
  /// A yes or no, by the model of that number.
  mutating func flag(_ bit: Bool, _ model: Int, _ models: inout MutableSpan<RangeModel>) -> Bool
  /// Up to 64 bits as they are.
  mutating func bits(_ value: UInt64, _ count: Int) -> UInt64
  /// A number that is mostly small; of the order of 2^`order`.
  mutating func number(
    _ value: UInt64, _ model: Int, _ models: inout MutableSpan<RangeModel>, order: Int
  ) -> UInt64
  /// A difference of either sign, by the models from that number on; of the order of 2^`order`.
  mutating func residual(
    _ value: Int64, _ model: Int, _ models: inout MutableSpan<RangeModel>, order: Int
  ) -> Int64
}

/// How numbers become bits with models of their own: whether it is not 0; how many bits its
/// magnitude has above the first, in unary; the highest of those. Sign and the rest are as they
/// are.
enum DeltaBins {
  /// Models of a number.
  static let count = 24
  /// Where the unary part begins.
  static let unary = 1
  /// The models of the unary part; the last serves all that follow.
  static let unaryCount = 15
  /// Where the highest bits below the first begin.
  static let top = unary + unaryCount
  /// The models of those.
  static let topCount = count - top
  /// The most bits that a magnitude has above the first.
  static let largestExponent = 62

  @inline(__always) static func unaryModel(_ index: Int) -> Int {
    unary + min(index, unaryCount - 1)
  }

  @inline(__always) static func topModel(_ exponent: Int) -> Int {
    top + min(exponent - 1, topCount - 1)
  }
}
