import CaromCore
import Testing

@testable import CaromProtocol

@Suite struct DataHeaderTests {
  private static let acknowledgement = ShortAcknowledgement(
    largest: 0x0201, ackDelay: AckDelay(byte: 9))

  private static let vectors: [(DataHeader, [UInt8])] = [
    (DataHeader(role: .initiator, number: 0x12345, numberLength: 2), [0x10, 0x45, 0x23]),
    (DataHeader(role: .responder, number: 0x12345, numberLength: 3), [0x60, 0x45, 0x23, 0x01]),
    (
      DataHeader(role: .responder, number: 0x1_0000_0007, numberLength: 4),
      [0x70, 7, 0, 0, 0]
    ),
    (
      DataHeader(role: .initiator, number: 3, numberLength: 2, acknowledgement: acknowledgement),
      [0x18, 3, 0, 1, 2, 9]
    ),
    (
      DataHeader(role: .responder, number: 3, numberLength: 4, acknowledgement: acknowledgement),
      [0x78, 3, 0, 0, 0, 1, 2, 9]
    ),
  ]

  @Test(arguments: vectors) func `each header is encoded as specified`(
    header: DataHeader, bytes: [UInt8]
  ) throws {
    var writer = FrameWriter(limit: 8)
    header.write(to: &writer)
    #expect(writer.bytes == bytes)
    var reader = PacketReader(bytes.span)
    #expect(try DataHeader(decoding: &reader) == header)
    #expect(reader.remaining == 0)
  }

  @Test(arguments: vectors) func `a truncated header is refused`(
    header: DataHeader, bytes: [UInt8]
  ) {
    for count in bytes.indices { #expect(makeHeader(Array(bytes[..<count])) == nil) }
  }

  @Test func `reserved bits are refused`() {
    for first in UInt8.min...UInt8.max {
      let good = first & 0x86 == 0 && first & 0x30 != 0
      let header = makeHeader([first, 0, 0, 0, 0, 0, 0, 0])
      #expect((header != nil) == good)
      if let header { #expect(header.keyPhase == (first & 1 == 1)) }
    }
  }

  private func makeHeader(_ bytes: [UInt8]) -> DataHeader? {
    var reader = PacketReader(bytes.span)
    return try? DataHeader(decoding: &reader)
  }

  @Test func `a number is as long as the packets in flight require`() {
    let rows: [(UInt64, UInt64?, Int, Int)] = [
      (0, nil, 0, 2), (4094, nil, 0, 2), (4095, nil, 0, 3), (5000, 905, 0, 2), (5000, 904, 0, 3),
      (1, 0, 16_383, 2), (1, 0, 16_384, 3), (1 << 20, 1, 0, 3), (1 << 20, 0, 0, 4),
    ]
    for (next, largest, rate, length) in rows {
      #expect(
        DataHeader.numberLength(next: next, largestAcknowledged: largest, packetsPerSecond: rate)
          == length)
    }
  }

  @Test func `a truncated number is recovered after any earlier number`() {
    var generator = SeededGenerator(seed: 5)
    var wrong = 0
    for _ in 0..<2_000 {
      let number = generator.next() >> (8 + generator.next() % 50)
      for length in 2...4 {
        let header = DataHeader(role: .initiator, number: number, numberLength: length)
        let behind = min(number, generator.next() % (1 << UInt64(8 * length - 1)))
        guard number - behind > 0 else { continue }
        if header.expanded(after: number - behind - 1) != number { wrong += 1 }
      }
    }
    #expect(wrong == 0)
    #expect(DataHeader(role: .initiator, number: 9, numberLength: 2).expanded(after: nil) == 9)
  }

  @Test(
    arguments: [
      (nil, [0x07, 0x00], 7), (65_534, [0x01, 0x00], 65_537), (65_537, [0xFF, 0xFF], 65_535),
      (0xA82F_30EA, [0x32, 0x9B], 0xA82F_9B32),
    ] as [(UInt64?, [UInt8], UInt64)])
  func `the numbers in the table of the page WireFormat are recovered`(
    largest: UInt64?, bytes: [UInt8], number: UInt64
  ) throws {
    var reader = PacketReader(([0x10] + bytes).span)
    #expect(try DataHeader(decoding: &reader).expanded(after: largest) == number)
  }

  @Test func `a short acknowledgement is never older than the previous one`() {
    for (before, largest, whole) in [
      (nil, 7, 7), (0, 0, 0), (70_000, 70_000, 70_000), (70_000, 70_001, 70_001),
      (70_000, 70_000 + 65_535, 70_000 + 65_535), (70_000, 70_000 + 65_536, 70_000),
      (nil, 65_535, 65_535), (nil, 65_536, 0),
    ] as [(UInt64?, UInt64, UInt64)] {
      let short = ShortAcknowledgement(
        largest: UInt16(truncatingIfNeeded: largest), ackDelay: AckDelay(byte: 0))
      #expect(short.expanded(after: before) == whole)
    }
  }
}
