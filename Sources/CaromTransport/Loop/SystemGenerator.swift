/// The system's generator of unpredictable numbers.
///
/// This type wraps `SystemRandomNumberGenerator`, whose values have a size of 0. Under the thread
/// sanitizer of Swift 6.3, unoptimized code to which such a value is passed `inout` crashes.
package struct SystemGenerator: RandomNumberGenerator {
  private var generator = SystemRandomNumberGenerator()
  private let size: UInt8 = 0

  package init() {}

  package mutating func next() -> UInt64 { generator.next() }
}
