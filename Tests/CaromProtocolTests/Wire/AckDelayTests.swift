import Testing

@testable import CaromProtocol

@Suite struct AckDelayTests {
  @Test func `each byte has its own delay, in ascending order`() {
    var last: Int64 = -1
    for byte in UInt8.min...UInt8.max {
      let time = AckDelay(byte: byte).nanoseconds
      #expect(time > last)
      #expect(AckDelay(nanoseconds: time).byte == byte)
      #expect(AckDelay(nanoseconds: time + 1).byte == byte)
      if byte > 0 { #expect(AckDelay(nanoseconds: time - 1).byte == byte - 1) }
      last = time
    }
  }

  @Test func `delays are rounded down`() {
    let times: [(Int64, UInt8)] = [
      (0, 0), (15_999, 0), (16_000, 1), (31 * 16_000, 31), (32 * 16_000, 32), (33 * 16_000, 32),
      (34 * 16_000, 33), (20_000_000, 0xA8), (128_511_999, 254), (128_512_000, 255),
      (.max, 255), (-5, 0),
    ]
    for (nanoseconds, byte) in times {
      #expect(AckDelay(nanoseconds: nanoseconds).byte == byte, "\(nanoseconds)")
    }
  }
}
