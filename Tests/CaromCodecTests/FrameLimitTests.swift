import CaromCodec
import CaromCore
import Foundation
import Testing

@Suite struct FrameLimitTests {
  /// The bytes of a big-endian length below 2^40 are in the last five bytes of the header, so a
  /// little-endian decoder reads a multiple of 2^24, which exceeds the limit.
  @Test func `a big-endian header below 2^40 is refused as too large by a little-endian decoder`() {
    var lengths: [UInt64] = []
    for place in 0..<5 {
      for byte in 1...255 { lengths.append(UInt64(byte) << UInt64(8 * place)) }
    }
    for shift in 0..<40 { lengths += [1 << UInt64(shift), (2 << UInt64(shift)) - 1] }
    var generator = SeededGenerator(seed: 40)
    for _ in 0..<10_000 { lengths.append(.random(in: 1..<1 << 40, using: &generator)) }
    for length in lengths {
      var decoder = FrameDecoder()
      decoder.receive(makeHeader(length.byteSwapped), at: .zero)
      #expect(throws: FrameError.self, "length \(length)") { try decoder.next() }
      #expect(length.byteSwapped > UInt64(decoder.limit))
    }
  }

  @Test func `lengths over the limit allocate no memory`() throws {
    let before = try addressSpace()
    var decoders: [FrameDecoder] = []
    for length in [UInt64(1) << 31, 1 << 32, 1 << 63, .max] {
      for _ in 0..<250 {
        var decoder = FrameDecoder()
        decoder.receive(makeHeader(length) + [UInt8](repeating: 0, count: 1_000), at: .zero)
        decoders.append(decoder)
      }
    }
    let grown = try addressSpace() - before
    // Threads of other tests use address space, too. Reserving the lengths would take over 500 GiB.
    #expect(grown < 1 << 36)
    #expect(decoders.allSatisfy { $0.nextTimeout == nil })
  }

  @Test func `an unlimited decoder does not allocate memory for bytes that never arrive`() throws {
    var decoder = FrameDecoder(limit: .max)
    decoder.receive(makeHeader(1 << 50) + [1], at: .zero)
    #expect(try decoder.next() == nil)
    #expect(throws: FrameError.unexpectedEOF(got: 1, want: 1 << 50)) { try decoder.finish() }
  }

  /// The address space in use, in bytes. Returns 0 on platforms other than Linux.
  private func addressSpace() throws -> Int {
    #if os(Linux)
      let pages = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
      return (pages.split(separator: " ").first.flatMap { Int($0) } ?? 0) * 4_096
    #else
      return 0
    #endif
  }
}
