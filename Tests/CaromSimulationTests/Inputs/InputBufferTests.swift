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
    var coder = InputCoder<Wide>()
    var writer = PacketWriter()
    var bits = BitWriter()
    coder.encode(values.count, into: &writer, bits: &bits) { Wide(value: values[$0]) }
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

/// An input with one field that uses all 32 bits.
private struct Wide: SimulationInput {
  var value: Int32 = 0

  static var fieldCount: Int { 1 }
  init() {}
  init(value: Int32) { self.value = value }
  init(fields: Span<Int32>) throws(DecodeError) { value = fields[0] }
  func field(_ index: Int) -> Int32 { value }
}

extension InputBuffer {
  fileprivate func read(_ bytes: [UInt8], from tick: Tick) throws(DecodeError) {
    var reader = PacketReader(bytes.span)
    var bits = BitReader()
    var coder = InputCoder<Input>()
    try readRun(from: tick, count: 1, context: 12, coder: &coder, bits: &bits, &reader)
  }
}
