/// The figures of the Golomb-Rice code of inputs.
enum InputRice {
  /// That many ones in a row mean that the value follows as it is.
  static let escape = 20
  /// The bits of the largest difference: 2^33 either way, its sign folded in.
  static let rawBits = 35
  /// The largest parameter.
  static let largestParameter = 30
}
