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

  @Test func `inputs are stored for ticks before the limit, and only without a gap`() {
    var buffer = InputBuffer<Swarm.Input>(from: Tick(10))
    let run = (0..<6).map { Swarm.Input(push: $0) }
    buffer.merge(run, from: Tick(11), before: Tick(100))
    #expect(buffer.end == Tick(10))
    buffer.merge(run, from: Tick(10), before: Tick(13))
    #expect(buffer.end == Tick(13))
    #expect(buffer.input(at: Tick(12)) == run[2])
    buffer.merge(run, from: Tick(10), before: Tick(14))
    #expect(buffer.end == Tick(14) && buffer.start == Tick(10))
    #expect(buffer.conflicts == 0)
  }

  @Test func `the last 256 inputs are stored`() {
    var buffer = InputBuffer<Swarm.Input>(from: Tick(5))
    #expect(buffer.input(at: Tick(9)) == Swarm.Input())
    for index in 0..<256 { buffer.append(Swarm.Input(push: Int32(index % 100))) }
    #expect(buffer.oldest == Tick(5) && buffer.end == Tick(261))
    #expect(buffer[Tick(5)] == Swarm.Input(push: 0))
    buffer.append(Swarm.Input(push: 77, wish: .kill))
    #expect(buffer.oldest == Tick(6))
    #expect(buffer[Tick(6)] == Swarm.Input(push: 1))
    #expect(buffer.input(at: Tick(261)) == Swarm.Input(push: 77, wish: .kill))
    #expect(buffer.input(at: Tick(262)) == Swarm.Input(push: 77))
    // An input that is no longer stored contradicts nothing.
    buffer.merge([Swarm.Input(push: 50), Swarm.Input(push: 1)], from: Tick(5), before: Tick(999))
    #expect(buffer.conflicts == 0)
  }

  @Test func `the context is at most 12 inputs, and never reaches before the receiver's first`() {
    let buffer = {
      var buffer = InputBuffer<Swarm.Input>(from: Tick(100))
      for _ in 0..<50 { buffer.append(Swarm.Input()) }
      return buffer
    }()
    let found = [100, 105, 111, 112, 113, 140].map { buffer.context(before: Tick($0)) }
    #expect(found == [0, 5, 11, 12, 12, 12])
    #expect(buffer.context(before: Tick(130), from: Tick(125)) == 5)
    #expect(buffer.context(before: Tick(130), from: Tick(130)) == 0)
    #expect(buffer.context(before: Tick(105), from: Tick(90)) == 5)
    var long = buffer
    for _ in 0..<300 { long.append(Swarm.Input()) }
    // Ticks 194 to 449 are stored.
    #expect([194, 200, 206, 207].map { long.context(before: Tick($0)) } == [0, 6, 12, 12])
    #expect(long.context(before: Tick(200), from: Tick(110)) == 6)
  }

  @Test func `a context that reaches before the stored inputs is rejected, one up to them is not`()
    throws
  {
    var buffer = InputBuffer<Swarm.Input>()
    for _ in 0..<300 { buffer.append(Swarm.Input()) }
    // Ticks 44 to 299 are stored.
    for (tick, context, isValid) in [
      (44, 0, true), (43, 0, false), (54, 10, true), (54, 11, false), (300, 12, true),
      (301, 0, false),
    ] as [(UInt64, Int, Bool)] {
      var reader = PacketReader([UInt8](arrayLiteral: 0).span)
      var bits = BitReader()
      var coder = InputCoder<Swarm.Input>()
      if isValid {
        try buffer.readRun(
          from: Tick(tick), count: 1, context: context, coder: &coder, bits: &bits, &reader)
        #expect(coder.run == [Swarm.Input()])
      } else {
        #expect(throws: DecodeError.invalid(what: "first tick")) {
          try buffer.readRun(
            from: Tick(tick), count: 1, context: context, coder: &coder, bits: &bits, &reader)
        }
      }
    }
  }
}
