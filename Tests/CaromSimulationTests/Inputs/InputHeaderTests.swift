import CaromCore
import Testing

@testable import CaromSimulation

/// WireFormat, Rollback play, Inputs.
@Suite struct InputHeaderTests {
  private func decode(_ bytes: [UInt8]) throws(DecodeError) -> InputHeader {
    try InputHeader(decoding: bytes.span)
  }

  @Test(arguments: [(0, 2), (30, 2), (31, 3), (32, 3), (127, 3)])
  func `from 31 inputs on, the number of inputs takes another byte`(count: Int, length: Int) throws
  {
    let header = InputHeader(first: Tick(2_047), count: count, acknowledged: Tick(2_047))
    #expect(header.encoded.count == length + 1)
    #expect(try decode(header.encoded).count == count)
    #expect(try decode(header.encoded).first == 2_047)
  }

  @Test func `a packet has at most 127 inputs`() throws {
    #expect(try decode([0, 0xF8, 96, 0]).count == 127)
    #expect(throws: DecodeError.tooLarge(length: 128, limit: 127)) {
      try decode([0, 0xF8, 97, 0])
    }
  }

  @Test(arguments: [0, 1, 2, 3, 4, 5, 6, 7, 8, 16, 0x81, 0xFF] as [UInt8])
  func `the flags are not 0, and have bits 0 to 2 only`(flags: UInt8) throws {
    var bytes: [UInt8] = [0, 0x08, 1, flags]
    if flags & 1 != 0 { bytes += [9, 0x34, 0x12] }
    if flags & 2 != 0 { bytes += [5, 1, 2, 3, 4] }
    if flags & 4 != 0 { bytes += [11] }
    guard (1...7).contains(flags) else {
      #expect(throws: DecodeError.invalid(what: "input flags")) { try decode(bytes) }
      return
    }
    let header = try decode(bytes)
    #expect(header.timing == (flags & 1 != 0 ? .init(lead: 9, advantage: 0x1234) : nil))
    #expect(header.confirmed == (flags & 2 != 0 ? .init(offset: -3, hash: 0x0403_0201) : nil))
    #expect(header.context == (flags & 4 != 0 ? 11 : 12))
    #expect(header.acknowledged == 0)
    #expect(header.encoded == bytes)
  }

  @Test func `the context is 0 to 11, or absent`() throws {
    #expect(try decode([0, 0x08, 1, 4, 0]).context == 0)
    #expect(throws: DecodeError.invalid(what: "context")) { try decode([0, 0x08, 1, 4, 12]) }
    #expect(throws: DecodeError.invalid(what: "context")) { try decode([0, 0x08, 1, 4, 255]) }
  }

  @Test func `a tick distance is at most 2^20 in both directions`() throws {
    for sign in [1, -1] as [Int64] {
      for (distance, isValid) in [(1 << 20, true), (1 << 20 + 1, false)] as [(Int64, Bool)] {
        var needed = InputHeader(first: .zero, count: 1, acknowledged: .zero)
        needed.acknowledged = sign * distance
        var hashed = InputHeader(first: .zero, count: 1, acknowledged: .zero)
        hashed.confirmed = .init(offset: sign * distance, hash: 1)
        for header in [needed, hashed] {
          if isValid {
            #expect(try decode(header.encoded) == header)
          } else {
            #expect(throws: DecodeError.invalid(what: "tick distance")) {
              try decode(header.encoded)
            }
          }
        }
      }
    }
  }
}
