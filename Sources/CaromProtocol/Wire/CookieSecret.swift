/// What a host makes its cookies from: 128 bits that nobody else knows.
package struct HostSecret: Hashable, Sendable {
  package let low: UInt64
  package let high: UInt64

  package init(low: UInt64, high: UInt64) {
    self.low = low
    self.high = high
  }

  /// A secret drawn from `generator`.
  package init(using generator: inout some RandomNumberGenerator) {
    low = generator.next()
    high = generator.next()
  }
}
