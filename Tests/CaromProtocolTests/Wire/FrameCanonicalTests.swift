import CaromCore
import CaromTesting
import Testing

@testable import CaromProtocol

#if DEBUG
  private let packets: UInt64 = 400
#else
  private let packets: UInt64 = 100_000
#endif

/// Decoding a packet and encoding it again yields the same bytes, or decoding fails.
@Suite struct FrameCanonicalTests {
  @Test func `encoded frames decode to the same frames`() throws {
    for seed in 0..<packets / 4 {
      var generator = SeededGenerator(seed: seed)
      let frames = makeFrames(using: &generator)
      let bytes = try #require(encodeFrames(frames, limit: 8192), "seed \(seed)")
      let decoded = try decodeFrames(bytes)
      try #require(decoded == frames, "seed \(seed)")
    }
  }

  @Test func `random bytes are refused or canonical`() throws {
    for seed in 0..<packets {
      var generator = SeededGenerator(seed: seed)
      let count = Int.random(in: 0...24, using: &generator)
      let bytes = (0..<count).map { _ in makeByte(using: &generator) }
      try #require(isRefusedOrCanonical(bytes), "seed \(seed)")
    }
  }

  @Test func `altered packets are refused or canonical`() throws {
    for seed in 0..<packets / 4 {
      var generator = SeededGenerator(seed: seed)
      var bytes = try #require(encodeFrames(makeFrames(using: &generator), limit: 8192))
      for _ in 0..<Int.random(in: 1...3, using: &generator) where !bytes.isEmpty {
        let index = Int.random(in: 0..<bytes.count, using: &generator)
        switch generator.next() % 4 {
        case 0: bytes[index] ^= 1 << UInt8(generator.next() % 8)
        case 1: bytes[index] = makeByte(using: &generator)
        case 2: bytes.remove(at: index)
        default: bytes.insert(makeByte(using: &generator), at: index)
        }
      }
      try #require(isRefusedOrCanonical(bytes), "seed \(seed)")
    }
  }

  private func isRefusedOrCanonical(_ bytes: [UInt8]) -> Bool {
    guard let decoded = try? decodeFrames(bytes) else { return true }
    return encodeFrames(decoded, limit: bytes.count) == bytes
  }

  /// Makes a byte that is often small or the first of a frame.
  private func makeByte(using generator: inout SeededGenerator) -> UInt8 {
    switch generator.next() % 4 {
    case 0: UInt8.random(in: 0...3, using: &generator)
    case 1: UInt8.random(in: 0x80...0xF0, using: &generator) & 0xF3
    case 2: UInt8.random(in: 0...20, using: &generator)
    default: UInt8.random(in: 0...255, using: &generator)
    }
  }

  private func makeFrames(using generator: inout SeededGenerator) -> [FrameValue] {
    var frames: [FrameValue] = []
    for _ in 0..<Int.random(in: 0...6, using: &generator) {
      frames.append(makeFrame(using: &generator))
    }
    if generator.chance(0.3) { frames.append(.padding(Int.random(in: 1...40, using: &generator))) }
    return frames
  }

  private func makeFrame(using generator: inout SeededGenerator) -> FrameValue {
    let delivery = Delivery.allCases[Int(generator.next() % 5)]
    let channel = UInt8([0, 1, 14, 15, 64][Int(generator.next() % 5)])
    let number = (generator.next() % 3 &- 1) & 0xFFFF
    switch generator.next() % 8 {
    case 0: return .ping
    case 1: return .credit(channel, generator.next() >> (generator.next() % 64))
    case 2:
      return .acknowledgement(makeRanges(using: &generator), AckDelay(byte: UInt8(number & 7)))
    case 3:
      let payload = makePayload(atLeast: 1, using: &generator)
      let offset = Int.random(in: 0...1000, using: &generator)
      let rest = Int.random(in: 0...1000, using: &generator)
      return .fragment(
        delivery, channel, number, of: offset + payload.count + rest, at: offset, payload)
    default:
      let payload = makePayload(atLeast: 0, using: &generator)
      return .message(delivery, channel, delivery.isNumbered ? number : 0, payload)
    }
  }

  private func makePayload(atLeast count: Int, using generator: inout SeededGenerator) -> [UInt8] {
    let length = Int.random(in: count...(generator.chance(0.1) ? 300 : 8), using: &generator)
    return (0..<length).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
  }

  private func makeRanges(using generator: inout SeededGenerator) -> [ClosedRange<UInt64>] {
    var upper = generator.next() >> (generator.next() % 64)
    var ranges: [ClosedRange<UInt64>] = []
    for _ in 0..<Int.random(in: 1...64, using: &generator) {
      let lower = upper - min(upper, generator.next() >> (40 + generator.next() % 24))
      ranges.append(lower...upper)
      let gap = 2 + generator.next() >> (40 + generator.next() % 24)
      guard lower >= gap else { break }
      upper = lower - gap
    }
    return ranges
  }
}
