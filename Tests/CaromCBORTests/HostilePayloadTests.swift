import CaromCBOR
import CaromCore
import Testing

@Suite struct HostilePayloadTests {
  @Test(arguments: [
    "", "18", "19ff", "1c", "1f", "5f", "9f", "bf", "ff", "c000", "8301", "62c3", "62c328",
    "5b7fffffffffffffff", "9b7fffffffffffffff", "bb7fffffffffffffff", "9bffffffffffffffff",
    "0000", "a1", "a100", "a2616101616102", "f8", "f7", "fc",
  ])
  func `bytes that are no value are an error`(hex: String) {
    #expect(throws: DecodeError.self) {
      try PacketDecoder().decode([String: Int].self, from: makeBytes(hex))
    }
  }

  @Test(arguments: ["01", "6161", "80", "f4", "f93c00", "f6", "40"])
  func `a value of another type is an error`(hex: String) {
    let bytes = makeBytes(hex)
    #expect(throws: DecodeError.self) { try PacketDecoder().decode(Point.self, from: bytes) }
    #expect(throws: DecodeError.self) { try PacketDecoder().decode(Move.self, from: bytes) }
  }

  @Test func `integers out of range are errors`() throws {
    let bytes = try PacketEncoder().encode(300)
    #expect(throws: DecodeError.invalid(what: "CBOR: an integer out of range")) {
      try PacketDecoder().decode(UInt8.self, from: bytes)
    }
    #expect(throws: DecodeError.self) {
      try PacketDecoder().decode(Int64.self, from: makeBytes("3bffffffffffffffff"))
    }
    #expect(throws: DecodeError.self) { try PacketDecoder().decode(UInt.self, from: [0x20]) }
  }

  @Test func `a number that a Float cannot represent is an error`() throws {
    let bytes = try PacketEncoder().encode(1.1)
    #expect(throws: DecodeError.self) { try PacketDecoder().decode(Float.self, from: bytes) }
  }

  @Test func `an unknown raw value of an enum is an error`() throws {
    let bytes = try PacketEncoder().encode("green")
    #expect(throws: DecodeError.invalid(what: "value: rejected by its type")) {
      try PacketDecoder().decode(Color.self, from: bytes)
    }
  }

  @Test func `nesting deeper than the limit is an error`() throws {
    let deep = [UInt8](repeating: 0x81, count: 33) + [0]
    #expect(throws: DecodeError.invalid(what: "CBOR: too deep")) {
      try PacketDecoder().decode([Int].self, from: deep)
    }
    #expect(throws: DecodeError.self) {
      try PacketDecoder().decode([Int].self, from: [UInt8](repeating: 0x81, count: 1 << 20))
    }
  }

  @Test func `more items than the limit are an error before any value is made`() throws {
    let bytes = try PacketEncoder().encode(Array(0..<1_000))
    let limited = PacketDecoder(itemLimit: 1_000)
    #expect(throws: DecodeError.tooLarge(length: 1_001, limit: 1_000)) {
      try limited.decode([Int].self, from: bytes)
    }
    #expect(try PacketDecoder(itemLimit: 1_001).decode([Int].self, from: bytes).count == 1_000)
  }

  @Test func `a duplicate key is an error in any order of keys`() {
    for hex in ["a2616101616102", "a3616101616202616103", "a201010102"] {
      #expect(throws: DecodeError.invalid(what: "map: duplicate key")) {
        try PacketDecoder().decode([String: Int].self, from: makeBytes(hex))
      }
    }
  }

  @Test func `large dictionaries are decoded quickly`() throws {
    let large = Dictionary(uniqueKeysWithValues: (0..<5_000).map { ("key\($0)", $0) })
    #expect(try roundTrip(large) == large)
  }

  @Test func `every truncation of a message is an error`() throws {
    let value = [Move.chat(text: "hello", to: "Leo"), .drop(column: 1_000), .pass]
    let bytes = try PacketEncoder().encode(value)
    for count in 0..<bytes.count {
      #expect(throws: DecodeError.self) {
        try PacketDecoder().decode([Move].self, from: Array(bytes[..<count]))
      }
    }
    #expect(throws: DecodeError.trailingBytes(1)) {
      try PacketDecoder().decode([Move].self, from: bytes + [0])
    }
  }
}
