import CaromCodec
import CaromCore
import Testing

@Suite struct FrameDecoderTests {
  @Test func `a complete frame is decoded to its body`() throws {
    var decoder = FrameDecoder()
    decoder.receive([3, 0, 0, 0, 0, 0, 0, 0, 7, 8, 9], at: .zero)
    #expect(try decoder.next() == [7, 8, 9])
    #expect(try decoder.next() == nil)
  }

  @Test func `a frame with an empty body is decoded, and the next one follows`() throws {
    var decoder = FrameDecoder()
    decoder.receive([0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 5], at: .zero)
    #expect(try decoder.next() == [])
    #expect(try decoder.next() == [5])
    #expect(try decoder.next() == nil)
  }

  @Test func `big-endian headers can be decoded`() throws {
    var decoder = FrameDecoder(byteOrder: .big)
    decoder.receive([0, 0, 0, 0, 0, 0, 0, 2, 1, 2], at: .zero)
    #expect(try decoder.next() == [1, 2])
  }

  @Test func `any split into two chunks gives the same bodies`() throws {
    let bodies = makeBodies(lengths: [0, 1, 5, 0, 300, 2])
    let stream = try makeStream(of: bodies)
    for split in 0...stream.count {
      var decoder = FrameDecoder()
      decoder.receive(stream.span.extracting(..<split), at: .zero)
      decoder.receive(stream.span.extracting(split...), at: .zero)
      #expect(try drain(&decoder) == bodies, "split at \(split)")
      try decoder.finish()
    }
  }

  @Test func `a big-endian header decodes to the same length however it is split`() throws {
    let body = makeBodies(lengths: [0x0102])[0]
    let header = Array(makeHeader(0x0102).reversed())
    for split in 0...8 {
      var decoder = FrameDecoder(byteOrder: .big)
      decoder.receive(Array(header[..<split]), at: .zero)
      decoder.receive(header[split...] + body, at: .zero)
      #expect(try drain(&decoder) == [body], "split at \(split)")
      try decoder.finish()
    }
    var decoder = FrameDecoder(byteOrder: .big)
    for byte in header + body { decoder.receive([byte], at: .zero) }
    #expect(try drain(&decoder) == [body])
  }

  @Test func `chunks of one byte give the same bodies`() throws {
    let bodies = makeBodies(lengths: [3, 0, 0, 17, 260])
    var decoder = FrameDecoder()
    var got: [[UInt8]] = []
    for byte in try makeStream(of: bodies) {
      decoder.receive([byte], at: .zero)
      got += try drain(&decoder)
    }
    #expect(got == bodies)
  }

  @Test(arguments: [
    UInt64(1 << 20) + 1, 1 << 31, 1 << 32, 1 << 63, .max,
  ])
  func `a length over the limit fails for good`(length: UInt64) throws {
    var decoder = FrameDecoder()
    decoder.receive(makeHeader(length), at: .zero)
    let error = FrameError.frameTooLarge(length: length, limit: 1 << 20)
    #expect(throws: error) { try decoder.next() }
    decoder.receive([1, 2, 3], at: .zero)
    #expect(throws: error) { try decoder.next() }
    #expect(throws: error) { try decoder.finish() }
    #expect(throws: error) { try decoder.handleTimeout(at: .zero) }
    #expect(decoder.nextTimeout == nil)
  }

  @Test func `bodies before an error are returned before the error is thrown`() throws {
    var decoder = FrameDecoder(limit: 4)
    decoder.receive((makeHeader(1) + [9] + makeHeader(5)), at: .zero)
    #expect(try decoder.next() == [9])
    #expect(throws: FrameError.frameTooLarge(length: 5, limit: 4)) { try decoder.next() }
  }

  @Test func `a body of exactly the limit is accepted`() throws {
    var decoder = FrameDecoder(limit: 4)
    decoder.receive(makeHeader(4) + [1, 2, 3, 4], at: .zero)
    #expect(try decoder.next() == [1, 2, 3, 4])
  }
}

extension FrameDecoder {
  /// Receives an array as a chunk.
  mutating func receive(_ bytes: [UInt8], at now: Instant) { receive(bytes.span, at: now) }
}

/// Returns all complete bodies.
func drain(_ decoder: inout FrameDecoder) throws -> [[UInt8]] {
  var bodies: [[UInt8]] = []
  while let body = try decoder.next() { bodies.append(body) }
  return bodies
}

/// Makes a little-endian header.
func makeHeader(_ length: UInt64) -> [UInt8] {
  (0..<8).map { UInt8(truncatingIfNeeded: length >> UInt64(8 * $0)) }
}

/// Makes bodies of the given lengths with distinct contents.
func makeBodies(lengths: [Int]) -> [[UInt8]] {
  lengths.map { length in (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ length) } }
}

/// Concatenates the frames of the given bodies.
func makeStream(of bodies: [[UInt8]]) throws -> [UInt8] {
  var stream: [UInt8] = []
  for body in bodies { try FrameEncoder().append(body.span, to: &stream) }
  return stream
}
