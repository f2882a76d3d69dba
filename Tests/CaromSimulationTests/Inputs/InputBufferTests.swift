import AirHockey
import CaromCore
import CaromTesting
import Testing

@testable import CaromSimulation

@Suite struct InputBufferTests {
  @Test func `runs of any length and start decode to the same inputs`() throws {
    var generator = SeededGenerator(seed: 3)
    var hand = SwarmHand(seed: 4)
    var sender = InputBuffer<Swarm.Input>(from: Tick(50))
    var receiver = sender
    var coder = InputCoder<Swarm.Input>()
    for _ in 0..<scaled(debug: 400, release: 4_000) {
      for _ in 0..<Int.random(in: 0...9, using: &generator) { sender.append(hand.input()) }
      let back = Int64.random(in: 0...40, using: &generator)
      let first = max(sender.start, receiver.end.advanced(by: -min(back, 40)))
      let count = min(127, Int(first.distance(to: sender.end)))
      var writer = PacketWriter()
      var bits = BitWriter()
      let context = sender.context(before: first)
      sender.writeRun(
        from: first, count: count, context: context, coder: &coder, bits: &bits, into: &writer)
      bits.finish(&writer)
      let bytes = writer.bytes
      var reader = PacketReader(bytes.span)
      var readBits = BitReader()
      var other = InputCoder<Swarm.Input>()
      try receiver.readRun(
        from: first, count: count, context: context, coder: &other, bits: &readBits, &reader)
      try readBits.finish()
      try reader.finish()
      receiver.merge(other.run, from: first, before: Tick(1 << 40))
      #expect(receiver.end == sender.end)
    }
    #expect(receiver.conflicts == 0)
    for back in 1...100 {
      let tick = sender.end.advanced(by: -Int64(back))
      #expect(receiver[tick] == sender[tick])
    }
  }

  @Test func `extreme values decode to the same values`() throws {
    let values: [Int32] = [0, .max, .min, .min, .max, 1, -1, .max, 0, 100, .min, 7]
    var coder = InputCoder<NumberInput>()
    var writer = PacketWriter()
    var bits = BitWriter()
    coder.encode(values.count, into: &writer, bits: &bits) { NumberInput(value: values[$0]) }
    bits.finish(&writer)
    coder.reset()
    let bytes = writer.bytes
    var reader = PacketReader(bytes.span)
    var readBits = BitReader()
    try coder.decode(values.count, from: &reader, bits: &readBits)
    #expect(coder.run.map(\.value) == values)
  }

  @Test func `a constant field costs one bit`() {
    var coder = InputCoder<Swarm.Input>()
    var writer = PacketWriter()
    var bits = BitWriter()
    coder.encode(100, into: &writer, bits: &bits) { _ in Swarm.Input() }
    bits.finish(&writer)
    #expect(writer.count == 1)
  }

  @Test func `a duplicate input changes nothing and a contradicting one is counted`() {
    var buffer = InputBuffer<Swarm.Input>()
    let run = [1, 2, 3].map { Swarm.Input(push: $0) }
    buffer.merge(run, from: .zero, before: Tick(100))
    buffer.merge(run, from: .zero, before: Tick(100))
    #expect(buffer.end == Tick(3))
    #expect(buffer.conflicts == 0)
    buffer.merge([Swarm.Input(push: 9)], from: Tick(1), before: Tick(100))
    #expect(buffer.conflicts == 1)
    #expect(buffer[Tick(1)] == Swarm.Input(push: 2))
  }

  @Test func `a run after a gap or before the stored inputs is rejected`() {
    var buffer = InputBuffer<Swarm.Input>()
    for _ in 0..<600 { buffer.append(Swarm.Input()) }
    for tick in [Tick(601), Tick(10), Tick(355), Tick(.max)] {
      #expect(throws: DecodeError.invalid(what: "first tick")) { try buffer.read([0], from: tick) }
    }
    #expect(throws: Never.self) { try buffer.read([0], from: Tick(357)) }
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

  @Test func `every header decodes to the same header`() throws {
    var generator = SeededGenerator(seed: 8)
    for _ in 0..<scaled(debug: 500, release: 5_000) {
      let first = Tick(UInt64.random(in: 0...100_000, using: &generator))
      let distance = Int64.random(in: -200...200, using: &generator)
      let acknowledged = first.advanced(by: max(distance, -Int64(first.rawValue)))
      var header = InputHeader(
        first: first, count: Int.random(in: 0...127, using: &generator),
        acknowledged: acknowledged)
      if generator.chance(0.5) {
        header.timing = .init(lead: 3, advantage: Int16.random(in: -99...99, using: &generator))
      }
      if generator.chance(0.5) { header.context = Int.random(in: 0...11, using: &generator) }
      if generator.chance(0.5) { header.confirmed = .init(offset: -7, hash: 0xDEAD_BEEF) }
      let bytes = header.encoded
      #expect(try InputHeader(decoding: bytes.span) == header)
      let near = first.advanced(
        by: Int64.random(in: -Int64(min(first.rawValue, 900))...900, using: &generator))
      #expect(header.first(near: near) == first)
    }
  }

  @Test func `random bytes never trap and change nothing`() throws {
    try Seeds(scaled(debug: 1_000, release: 6_000)).check { seed in
      var generator = SeededGenerator(seed: seed)
      var session = RollbackSession(
        Swarm(count: 2, seed: 1), RollbackConfiguration(local: 0), at: .zero)
      for _ in 0..<5 { session.advance(with: Swarm.Input(push: 3)) }
      let count = Int.random(in: 0...40, using: &generator)
      let bytes = (0..<count).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
      for message in RollbackMessage.allCases {
        try? session.receive(message, bytes.span, from: 1, at: .zero)
      }
      session.advance(with: Swarm.Input())
      var writer = PacketWriter()
      for _ in 0..<4 { _ = session.pollTransmit(into: &writer) }
    }
  }

  @Test func `packets with flipped bits never trap`() throws {
    try Seeds(scaled(debug: 300, release: 2_500)).check { seed in
      var generator = SeededGenerator(seed: seed)
      var hand = SwarmHand(seed: seed)
      var sessions = (0...1).map {
        RollbackSession(Swarm(count: 2, seed: 1), RollbackConfiguration(local: $0), at: .zero)
      }
      for _ in 0..<12 {
        for player in 0...1 { sessions[player].advance(with: hand.input()) }
        var writer = PacketWriter()
        while let transmit = sessions[0].pollTransmit(into: &writer) {
          var bytes = writer.bytes
          writer.removeAll()
          if generator.chance(0.7) {
            let place = Int.random(in: bytes.indices, using: &generator)
            bytes[place] ^= 1 << UInt8.random(in: 0...7, using: &generator)
          }
          if generator.chance(0.1) { bytes.removeLast() }
          try? sessions[1].receive(transmit.message, bytes.span, from: 0, at: .zero)
        }
      }
    }
  }
}

extension InputBuffer {
  fileprivate func read(_ bytes: [UInt8], from tick: Tick) throws(DecodeError) {
    var reader = PacketReader(bytes.span)
    var bits = BitReader()
    var coder = InputCoder<Input>()
    try readRun(from: tick, count: 1, context: 12, coder: &coder, bits: &bits, &reader)
  }
}
