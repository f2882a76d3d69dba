import CaromCBOR
import CaromCore
import Testing

/// The examples of RFC 8949, appendix A, that use supported features only.
@Suite struct CBORVectorTests {
  @Test(
    arguments: [
      (0, "00"), (1, "01"), (10, "0a"), (23, "17"), (24, "1818"), (25, "1819"), (100, "1864"),
      (1_000, "1903e8"), (1_000_000, "1a000f4240"), (1_000_000_000_000, "1b000000e8d4a51000"),
      (-1, "20"), (-10, "29"), (-100, "3863"), (-1_000, "3903e7"), (.max, "1b7fffffffffffffff"),
      (.min, "3b7fffffffffffffff"),
    ] as [(Int64, String)])
  func `integers are as the RFC has them`(value: Int64, hex: String) throws {
    #expect(try PacketEncoder().encode(value) == makeBytes(hex))
    #expect(try PacketDecoder().decode(Int64.self, from: makeBytes(hex)) == value)
  }

  @Test func `the largest integer takes nine bytes`() throws {
    #expect(try PacketEncoder().encode(UInt64.max) == makeBytes("1bffffffffffffffff"))
    #expect(try roundTrip(UInt64.max) == .max)
  }

  @Test(
    arguments: [
      (0.0, "f90000"), (-0.0, "f98000"), (1.0, "f93c00"), (1.1, "fb3ff199999999999a"),
      (1.5, "f93e00"), (65_504.0, "f97bff"), (100_000.0, "fa47c35000"),
      (3.4028234663852886e+38, "fa7f7fffff"), (1.0e+300, "fb7e37e43c8800759c"),
      (5.960464477539063e-8, "f90001"), (0.00006103515625, "f90400"), (-4.0, "f9c400"),
      (-4.1, "fbc010666666666666"), (.infinity, "f97c00"), (-.infinity, "f9fc00"),
    ] as [(Double, String)])
  func `numbers are as the RFC has them`(value: Double, hex: String) throws {
    #expect(try PacketEncoder().encode(value) == makeBytes(hex))
    let decoded = try PacketDecoder().decode(Double.self, from: makeBytes(hex))
    #expect(decoded.bitPattern == value.bitPattern)
  }

  @Test func `all NaNs have the same encoding`() throws {
    #expect(try PacketEncoder().encode(Double.nan) == makeBytes("f97e00"))
    #expect(try PacketEncoder().encode(-Float.nan) == makeBytes("f97e00"))
    #expect(try roundTrip(Double.nan).isNaN)
  }

  @Test(arguments: [
    ("", "60"), ("a", "6161"), ("IETF", "6449455446"), ("\"\\", "62225c"), ("\u{fc}", "62c3bc"),
    ("\u{6c34}", "63e6b0b4"), ("\u{10151}", "64f0908591"),
  ])
  func `texts are as the RFC has them`(value: String, hex: String) throws {
    #expect(try PacketEncoder().encode(value) == makeBytes(hex))
    #expect(try PacketDecoder().decode(String.self, from: makeBytes(hex)) == value)
  }

  @Test func `containers and simple values are encoded as in the RFC`() throws {
    let encoder = PacketEncoder()
    #expect(try encoder.encode(false) == makeBytes("f4"))
    #expect(try encoder.encode(true) == makeBytes("f5"))
    #expect(try encoder.encode(Int?.none) == makeBytes("f6"))
    #expect(try encoder.encode([UInt8]()) == makeBytes("40"))
    #expect(try encoder.encode([1, 2, 3, 4] as [UInt8]) == makeBytes("4401020304"))
    #expect(try encoder.encode([1, 2, 3]) == makeBytes("83010203"))
    #expect(try encoder.encode([Int]()) == makeBytes("80"))
    #expect(try encoder.encode([[1], [2, 3], [4, 5]]) == makeBytes("8381018202038204" + "05"))
    #expect(try encoder.encode([1: 2, 3: 4]) == makeBytes("a201020304"))
    #expect(try encoder.encode(["b": 1, "a": 2]) == makeBytes("a2616102616201"))
    #expect(try encoder.encode([String: Int]()) == makeBytes("a0"))
  }

  @Test func `all half-precision numbers are read back`() throws {
    for bits in UInt16.min...UInt16.max {
      let bytes = [0xF9, UInt8(bits >> 8), UInt8(bits & 0xFF)]
      let value = try PacketDecoder().decode(Double.self, from: bytes)
      let again = try PacketEncoder().encode(value)
      #expect(value.isNaN ? again == [0xF9, 0x7E, 0] : again == bytes)
    }
  }

  @Test func `arguments in longer forms than necessary are accepted`() throws {
    #expect(try PacketDecoder().decode(Int.self, from: makeBytes("1b0000000000000001")) == 1)
    #expect(try PacketDecoder().decode(Double.self, from: makeBytes("fb3ff0000000000000")) == 1)
    #expect(try PacketDecoder().decode(Double.self, from: makeBytes("07")) == 7)
    #expect(try PacketDecoder().decode([UInt8].self, from: makeBytes("820102")) == [1, 2])
    let unsorted = try PacketDecoder().decode([String: Int].self, from: makeBytes("a2616201616102"))
    #expect(unsorted == ["b": 1, "a": 2])
  }
}

/// Parses hexadecimal digits, such as "0a0b".
func makeBytes(_ hex: String) -> [UInt8] {
  let digits = hex.compactMap(\.hexDigitValue)
  return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
}

/// Encodes and decodes a value.
func roundTrip<Value: Codable>(_ value: Value) throws -> Value {
  try PacketDecoder().decode(Value.self, from: PacketEncoder().encode(value))
}
