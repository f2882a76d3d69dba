import CaromCore
import Testing

/// The bytes by which a proxy finds the server of a datagram.
@Suite struct DatagramRoutingTests {
  @Test func `routing has 1 to 32 bytes`() throws {
    for count in [1, 16, 32] {
      let bytes = [UInt8](repeating: 7, count: count)
      #expect(try DatagramRouting.prefix(bytes).bytes == bytes)
      #expect(try DatagramRouting.suffix(bytes).position == .suffix)
    }
    #expect(throws: DatagramRoutingError.empty) { try DatagramRouting.prefix([]) }
    let long = [UInt8](repeating: 0, count: 33)
    #expect(throws: DatagramRoutingError.tooLong(count: 33)) { try DatagramRouting.suffix(long) }
    #expect("\(DatagramRoutingError.tooLong(count: 33))".contains("at most 32 bytes, not 33"))
    #expect("\(DatagramRoutingError.empty)".contains("1 to 32 bytes"))
  }

  @Test func `a datagram that carries the bytes is told from one that does not`() throws {
    let (prefix, suffix) = (
      try DatagramRouting.prefix([1, 2]), try DatagramRouting.suffix([1, 2])
    )
    let rows: [([UInt8], Range<Int>?, Range<Int>?)] = [
      ([], nil, nil), ([1], nil, nil), ([2], nil, nil), ([1, 2], 2..<2, 0..<0),
      ([1, 2, 3], 2..<3, nil), ([3, 1, 2], nil, 0..<1), ([1, 2, 1, 2], 2..<4, 0..<2),
      ([1, 3, 2], nil, nil), ([2, 1], nil, nil),
    ]
    for (datagram, afterPrefix, beforeSuffix) in rows {
      #expect(prefix.payload(of: datagram.span) == afterPrefix)
      #expect(suffix.payload(of: datagram.span) == beforeSuffix)
    }
    #expect(prefix.adding(to: [3]) == [1, 2, 3] && suffix.adding(to: [3]) == [3, 1, 2])
  }

  @Test func `routing is one byte and its bytes`() throws {
    let (prefix, suffix) = (try DatagramRouting.prefix([5]), try DatagramRouting.suffix([6, 7]))
    #expect(prefix.encoded == [1, 5] && suffix.encoded == [130, 6, 7])
    for routing in [prefix, suffix, try .suffix([UInt8](0..<32))] {
      #expect(try DatagramRouting(decoding: routing.encoded.span) == routing)
    }
    for bytes: [UInt8] in [[], [0], [128], [2, 5], [1, 5, 5], [33], [64, 1], [161]] {
      let padded = bytes.first == 33 ? bytes + [UInt8](repeating: 1, count: 33) : bytes
      #expect(throws: DecodeError.self) { try DatagramRouting(decoding: padded.span) }
    }
  }

  @Test func `the description shows none of the bytes`() throws {
    #expect(try DatagramRouting.prefix([77]).description == "prefix of 1 byte")
    #expect(try DatagramRouting.suffix([77, 78]).description == "suffix of 2 bytes")
  }
}
