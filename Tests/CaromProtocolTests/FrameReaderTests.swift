import CaromCore
import Testing

@testable import CaromProtocol

@Suite struct FrameReaderTests {
  /// Each row: what is said, and its bytes.
  private static let vectors: [([SaidFrame], [UInt8])] = [
    ([.message(.unreliable, 3, 0, [7, 8])], [0x83, 2, 7, 8]),
    ([.message(.unreliable, 14, 0, [])], [0x8E, 0]),
    ([.message(.unreliableSequenced, 0, 0x102, [9])], [0x90, 0x02, 0x01, 1, 9]),
    ([.message(.reliableOrdered, 15, 7, [1])], [0xAF, 15, 7, 0, 1, 1]),
    ([.message(.reliableUnordered, 64, 7, [1])], [0xBF, 64, 7, 0, 1, 1]),
    ([.message(.reliableSequenced, 1, 0xFFFF, [1])], [0xC1, 0xFF, 0xFF, 1, 1]),
    (
      [
        .message(.reliableOrdered, 1, 0xFFFF, [5]), .ping, .message(.reliableOrdered, 1, 0, [6]),
        .message(.reliableOrdered, 1, 1, []),
      ],
      [0xA1, 0xFF, 0xFF, 1, 5, 0x01, 0xE1, 1, 6, 0xE1, 0]
    ),
    (
      [.message(.reliableOrdered, 20, 1, [5]), .message(.reliableOrdered, 20, 2, [6])],
      [0xAF, 20, 1, 0, 1, 5, 0xEF, 1, 6]
    ),
    (
      [.message(.reliableOrdered, 1, 1, [5]), .message(.reliableUnordered, 1, 2, [6])],
      [0xA1, 1, 0, 1, 5, 0xB1, 2, 0, 1, 6]
    ),
    (
      [.piece(.reliableOrdered, 2, 3, of: 300, at: 200, [1, 2])],
      [0xD2, 2, 3, 0, 0xAC, 2, 0xC8, 1, 2, 1, 2]
    ),
    ([.piece(.unreliable, 30, 3, of: 1, at: 0, [1])], [0xDF, 30, 0, 3, 0, 1, 0, 1, 1]),
    ([.ping], [1]),
    ([.padding(3)], [0, 0, 0]),
    ([.credit(64, 300)], [3, 64, 0xAC, 2]),
    ([.acknowledgement([5...9], HoldTime(byte: 1))], [2, 9, 1, 0, 4]),
    (
      [.acknowledgement([300...300, 2...298, 0...0], HoldTime(byte: 255))],
      [2, 0xAC, 2, 255, 2, 0, 0, 0xA8, 2, 0, 0]
    ),
  ]

  @Test(arguments: vectors) func `each frame has its bytes`(
    frames: [SaidFrame], bytes: [UInt8]
  ) throws {
    #expect(encodeFrames(frames) == bytes)
    #expect(try decodeFrames(bytes) == frames)
  }
}
