import CaromCodec
import CaromCore
import Testing

@Suite struct FrameDeadlineTests {
  @Test func `a header has no timeout`() throws {
    var decoder = FrameDecoder()
    decoder.receive([1, 0, 0], at: .zero)
    #expect(decoder.nextTimeout == nil)
    try decoder.handleTimeout(at: .zero + .seconds(1_000_000))
    decoder.receive([0, 0, 0, 0, 0, 9], at: .zero + .seconds(1_000_000))
    #expect(try decoder.next() == [9])
  }

  @Test func `a body's deadline starts at the end of its header`() {
    var decoder = FrameDecoder()
    decoder.receive([2, 0, 0, 0], at: .zero)
    decoder.receive([0, 0, 0, 0], at: .zero + .seconds(5))
    #expect(decoder.nextTimeout == .zero + .seconds(35))
  }

  @Test func `a byte every 29 seconds does not move the deadline`() throws {
    var decoder = FrameDecoder()
    decoder.receive(makeHeader(10) + [1], at: .zero)
    decoder.receive([2], at: .zero + .seconds(29))
    #expect(decoder.nextTimeout == .zero + .seconds(30))
    try decoder.handleTimeout(at: .zero + .milliseconds(29_999))
    let error = FrameError.bodyTimeout(got: 2, want: 10)
    #expect(throws: error) { try decoder.handleTimeout(at: .zero + .seconds(30)) }
    #expect(throws: error) { try decoder.next() }
  }

  @Test func `bytes at the deadline are late even without a call of handleTimeout`() {
    var decoder = FrameDecoder(bodyTimeout: .seconds(1))
    decoder.receive(makeHeader(2) + [1], at: .zero)
    decoder.receive([2], at: .zero + .seconds(1))
    #expect(throws: FrameError.bodyTimeout(got: 1, want: 2)) { try decoder.next() }
  }

  @Test func `a complete body clears the deadline`() throws {
    var decoder = FrameDecoder()
    decoder.receive(makeHeader(1) + [1], at: .zero)
    #expect(decoder.nextTimeout == nil)
    try decoder.handleTimeout(at: .zero + .seconds(60))
  }

  @Test func `the end of the stream inside a header is an error with the bytes received`() {
    var decoder = FrameDecoder()
    decoder.receive([1, 0, 0], at: .zero)
    #expect(throws: FrameError.unexpectedEOF(got: 3, want: 8)) { try decoder.finish() }
  }

  @Test func `the end of the stream inside a body is an error with the bytes received`() {
    var decoder = FrameDecoder()
    decoder.receive(makeHeader(5) + [1, 2], at: .zero)
    let error = FrameError.unexpectedEOF(got: 2, want: 5)
    #expect(throws: error) { try decoder.finish() }
    #expect(throws: error) { try decoder.next() }
  }

  @Test func `the end of the stream between frames is not an error`() throws {
    var decoder = FrameDecoder()
    try decoder.finish()
    decoder.receive(makeHeader(1) + [1], at: .zero)
    try decoder.finish()
    #expect(try decoder.next() == [1])
  }
}
