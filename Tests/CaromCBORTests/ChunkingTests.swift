import CaromCBOR
import CaromCore
import Testing

#if DEBUG
  private let rounds = 200
  private let mutations = 20_000
  private let packets = 20_000
#else
  private let rounds = 5_000
  private let mutations = 1_000_000
  private let packets = 1_000_000
#endif

@Suite struct ChunkingTests {
  @Test func `random packets in random chunks are decoded unchanged`() throws {
    for seed in 0..<UInt64(rounds) {
      var generator = SeededGenerator(seed: seed)
      let packets = makePackets(using: &generator)
      let stream = packets.flatMap { $0.framed() }
      let decoded = try decode(stream, limit: 1 << 20, using: &generator).map {
        try Packet(decoding: $0.span)
      }
      #expect(decoded == packets, "seed \(seed)")
      if decoded != packets { return }
    }
  }

  @Test func `frames are decoded the same however their bytes are split in two`() throws {
    var generator = SeededGenerator(seed: 12)
    let packets = makePackets(using: &generator)
    let stream = Array(packets.flatMap { $0.framed() }.prefix(3_000))
    let whole = try decode(stream, chunks: [stream.count])
    for cut in 0...stream.count {
      #expect(try decode(stream, chunks: [cut, stream.count - cut]) == whole)
    }
  }

  @Test func `only a body that lies in two chunks is copied`() throws {
    let stream = [[1, 2, 3], [], [4, 5]].flatMap { Packet(type: 1, payload: $0).framed() }
    var decoder = FrameDecoder()
    var (offset, next) = (0, 0)
    let (first, second) = (stream.span.extracting(..<34), stream.span.extracting(34...))
    #expect(try decoder.next(in: first, from: &offset, at: .zero) == .chunk(8..<15))
    #expect(try decoder.next(in: first, from: &offset, at: .zero) == .chunk(23..<27))
    #expect(try decoder.next(in: first, from: &offset, at: .zero) == nil && offset == 34)
    #expect(
      try decoder.next(in: second, from: &next, at: .zero) == .copy([1, 0, 0, 0, 4, 5]))
  }

  @Test func `a long or late body fails after the bodies before it, also in place`() throws {
    let stream = Packet(type: 1).framed() + Packet(type: 1, payload: [1]).framed()
    var decoder = FrameDecoder(limit: 4)
    var offset = 0
    #expect(try decoder.next(in: stream.span, from: &offset, at: .zero) == .chunk(8..<12))
    #expect(throws: FrameError.frameTooLarge(length: 5, limit: 4)) {
      try decoder.next(in: stream.span, from: &offset, at: .zero)
    }
    var slow = FrameDecoder(bodyTimeout: .seconds(1))
    offset = 0
    let (first, second) = (stream.span.extracting(..<9), stream.span.extracting(9...))
    #expect(try slow.next(in: first, from: &offset, at: .zero) == nil)
    offset = 0
    #expect(throws: FrameError.bodyTimeout(got: 1, want: 4)) {
      try slow.next(in: second, from: &offset, at: .zero + .seconds(1))
    }
  }

  @Test func `an endless stream of packets does not accumulate memory`() throws {
    var decoder = FrameDecoder()
    let frame = Packet(type: 1, payload: [1, 2, 3, 4]).framed()
    let segment = frame + frame + frame[..<5]
    var count = 0
    var chunk = segment
    while count < packets {
      decoder.receive(chunk.span, at: .zero)
      while let body = try decoder.next() {
        count += 1
        if body.count != 8 { Issue.record("a body of \(body.count)") }
      }
      chunk = Array(frame[5...]) + segment
    }
    #expect(decoder.nextTimeout == nil)
  }

  @Test func `mutated streams never cause a trap, a hang or memory growth`() throws {
    var generator = SeededGenerator(seed: 99)
    let recorded = makePackets(using: &generator).flatMap { $0.framed() }.prefix(400)
    var registry = PacketRegistry()
    try registry.register(Chat.self)
    try registry.register(Drop.self)
    for _ in 0..<mutations {
      var stream = Array(recorded)
      mutate(&stream, using: &generator)
      var decoder = FrameDecoder(limit: 4_096)
      let cut = Int.random(in: 0...stream.count, using: &generator)
      decoder.receive(stream.span.extracting(..<cut), at: .zero)
      decoder.receive(stream.span.extracting(cut...), at: .zero)
      var got = 0
      while let body = try? decoder.next() {
        got += body.count
        _ = registry.decode(body.span)
      }
      if got > stream.count { Issue.record("\(got) bytes out of \(stream.count)") }
      try? decoder.finish()
    }
    #expect(registry.unknownCount > 0 && registry.malformedCount > 0)
  }

  @Test func `mutated payloads never cause a trap, a hang or memory growth`() throws {
    var generator = SeededGenerator(seed: 7)
    let value = Everything(
      text: "text", numbers: [1, -2, 300], names: ["a": 1.5], byIndex: [3: "x"], nothing: nil,
      something: 5, bytes: [1, 2], nested: [[true], []], optionals: [nil, 1])
    let recorded = try PacketEncoder().encode(value)
    var accepted = 0
    for _ in 0..<mutations / 10 {
      var bytes = recorded
      mutate(&bytes, using: &generator)
      guard let value = try? PacketDecoder().decode(Everything.self, from: bytes) else { continue }
      accepted += 1
      if try roundTrip(value) != value, value.names.values.allSatisfy({ !$0.isNaN }) {
        Issue.record("\(value) does not come back")
      }
    }
    #expect(accepted > 0)
  }
}

/// Makes up to ten random packets, some of them empty.
private func makePackets(using generator: inout SeededGenerator) -> [Packet] {
  (0..<Int.random(in: 1...10, using: &generator)).map { _ in
    let lengths = [0, 1, 4, 100, 2_000]
    let length = Int.random(
      in: 0...lengths[Int.random(in: 0..<5, using: &generator)], using: &generator)
    return Packet(
      type: .random(in: 15...18, using: &generator), action: .random(in: 0...2, using: &generator),
      payload: (0..<length).map { UInt8(truncatingIfNeeded: $0) })
  }
}

/// Applies one to four random mutations: a change, an insertion, a removal, a duplication or a
/// truncation.
private func mutate(_ bytes: inout [UInt8], using generator: inout SeededGenerator) {
  for _ in 0..<Int.random(in: 1...4, using: &generator) {
    guard !bytes.isEmpty else { return }
    let index = Int.random(in: 0..<bytes.count, using: &generator)
    switch Int.random(in: 0..<6, using: &generator) {
    case 0: bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
    case 1: bytes[index] = .random(in: 0...255, using: &generator)
    case 2: bytes.insert(.random(in: 0...255, using: &generator), at: index)
    case 3: bytes.remove(at: index)
    case 4: bytes[index] = [0, 0xFF, 0x7F, 0x80].randomElement(using: &generator) ?? 0
    default: bytes.removeLast(min(bytes.count - index, 16))
    }
  }
}

/// Decodes a stream in chunks of the given lengths and returns the bodies. Expects the same bodies
/// from a decoder that does not copy those that lie in one chunk.
private func decode(_ stream: [UInt8], chunks: [Int]) throws -> [[UInt8]] {
  var decoder = FrameDecoder()
  var inPlace = FrameDecoder()
  var bodies: [[UInt8]] = []
  var same: [[UInt8]] = []
  var start = 0
  for length in chunks {
    let chunk = stream.span.extracting(start..<start + length)
    decoder.receive(chunk, at: .zero)
    while let body = try decoder.next() { bodies.append(body) }
    same += try drain(&inPlace, chunk)
    start += length
  }
  #expect(same == bodies)
  return bodies
}

private func drain(_ decoder: inout FrameDecoder, _ chunk: Span<UInt8>) throws -> [[UInt8]] {
  var bodies: [[UInt8]] = []
  var offset = 0
  while let body = try decoder.next(in: chunk, from: &offset, at: .zero) {
    switch body {
    case .chunk(let range): bodies.append(Array(copying: chunk.extracting(range)))
    case .copy(let body): bodies.append(body)
    }
  }
  #expect(offset == chunk.count)
  return bodies
}

/// Decodes a stream in chunks of random lengths and returns the bodies.
private func decode(
  _ stream: [UInt8], limit: Int, using generator: inout SeededGenerator
) throws -> [[UInt8]] {
  var chunks: [Int] = []
  var left = stream.count
  let largest = [1, 9, 100, 5_000][Int.random(in: 0..<4, using: &generator)]
  while left > 0 {
    chunks.append(min(left, Int.random(in: 1...largest, using: &generator)))
    left -= chunks[chunks.count - 1]
  }
  return try decode(stream, chunks: chunks)
}
