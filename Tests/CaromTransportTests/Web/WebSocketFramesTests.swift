import CaromCore
import Testing

@testable import CaromTransport

/// Returns a masked frame. `length` is what the header says, if that is not the payload's.
private func makeFrame(
  _ opcode: UInt8, _ payload: [UInt8], isFinal: Bool = true, length: Int? = nil
) -> [UInt8] {
  let length = length ?? payload.count
  let mask: [UInt8] = [1, 2, 3, 4]
  var frame = [(isFinal ? 0x80 : 0) | opcode]
  if length < 126 {
    frame.append(0x80 | UInt8(length))
  } else {
    let width = length <= 0xFFFF ? 2 : 8
    frame.append(0x80 | (width == 2 ? 126 : 127))
    frame += (0..<width).reversed().map { UInt8(truncatingIfNeeded: length >> (8 * $0)) }
  }
  return frame + mask + payload.enumerated().map { $1 ^ mask[$0 % 4] }
}

@Suite struct WebSocketFramesTests {
  /// Passes `bytes` on in pieces, and returns the payload and the replies.
  private func receive(
    _ bytes: [UInt8], pieces: Int = .max, by frames: WebSocketFrames
  ) -> (payload: [UInt8], replies: [UInt8]) {
    var (payload, replies): ([UInt8], [UInt8]) = ([], [])
    var rest = bytes[...]
    while !rest.isEmpty {
      let piece = Array(rest.prefix(pieces))
      rest = rest.dropFirst(pieces)
      frames.receive(piece.span, into: &payload, replies: &replies)
    }
    return (payload, replies)
  }

  @Test(arguments: [1, 2, 5, 4096, .max])
  func `the payload of messages is one stream, however it is cut`(pieces: Int) throws {
    var generator = SeededGenerator(seed: 7)
    let content = (0..<20_000).map { _ in UInt8.random(in: 0...255, using: &generator) }
    var bytes: [UInt8] = []
    var rest = content[...]
    while !rest.isEmpty {
      let part = Array(rest.prefix(.random(in: 0...700, using: &generator)))
      rest = rest.dropFirst(part.count)
      let half = part.count / 2
      bytes += makeFrame(2, Array(part[..<half]), isFinal: false)
      bytes += makeFrame(9, [UInt8(half & 0xFF)]) + makeFrame(0, Array(part[half...]))
    }
    let frames = try WebSocketFrames()
    let (payload, replies) = receive(bytes, pieces: pieces, by: frames)
    let isSame = payload == content  // thousands of bytes, which a failure need not print
    #expect(isSame)
    #expect(replies.prefix(2) == [0x8A, 1] && !frames.isClosed)
  }

  @Test func `a message of the limit is accepted, and one byte more is not`() throws {
    let limit = WebSocketFrames.messageLimit
    let accepting = try WebSocketFrames()
    let (payload, replies) = receive(
      makeFrame(2, [UInt8](repeating: 9, count: limit)), by: accepting)
    #expect(payload.count == limit && replies == [])
    let refusing = try WebSocketFrames()
    let (none, close) = receive(makeFrame(2, [9], length: limit + 1), by: refusing)
    #expect(none == [] && close == [0x88, 2, 0x03, 0xF1] && refusing.isClosed)
  }

  @Test func `nothing is sent or received after a close`() throws {
    let frames = try WebSocketFrames()
    #expect(frames.close() == [0x88, 2, 0x03, 0xE8])
    #expect(frames.close() == nil && frames.makePing() == nil)
    var message: [UInt8] = []
    #expect(!frames.appendMessage([1].span, to: &message) && message.isEmpty)
    let (payload, replies) = receive(makeFrame(2, [1]) + makeFrame(9, []), by: frames)
    #expect(payload == [] && replies == [])
  }

  @Test(arguments: [(0, 2), (125, 2), (126, 4), (65_535, 4), (65_536, 10)])
  func `a message has the shortest header`(length: Int, header: Int) throws {
    let payload = [UInt8](repeating: 3, count: length)
    var frame: [UInt8] = []
    #expect(try WebSocketFrames().appendMessage(payload.span, to: &frame))
    #expect(frame.count == header + length && frame[0] == 0x82)
    #expect(frame[1] == (header == 2 ? UInt8(length) : header == 4 ? 126 : 127))
  }

  @Test func `the key is answered as in the RFC, and a wrong one is not`() {
    // RFC 6455 §1.3
    #expect(
      WebSocketKey.makeAnswer(to: "dGhlIHNhbXBsZSBub25jZQ==") == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
    for wrong in ["", "dGhlIHNhbXBsZSBub25jZQ", "dGhlIHNhbXBsZSBub25jZ!==", "c2hvcnQ="] {
      #expect(WebSocketKey.makeAnswer(to: wrong) == nil)
    }
  }
}
