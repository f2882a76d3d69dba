import CaromCBOR
import CaromCore
import Testing

/// The one form that the encoder writes (RFC 8949 §4.2.1), and what the decoder accepts.
@Suite struct CBORFormTests {
  @Test(
    arguments: [
      (255, "18ff"), (256, "190100"), (65_535, "19ffff"), (65_536, "1a00010000"),
      (4_294_967_295, "1affffffff"), (4_294_967_296, "1b0000000100000000"), (-24, "37"),
      (-25, "3818"), (-256, "38ff"), (-257, "390100"), (-65_536, "39ffff"),
      (-65_537, "3a00010000"), (-4_294_967_296, "3affffffff"),
      (-4_294_967_297, "3b0000000100000000"),
    ] as [(Int64, String)])
  func `an integer takes as few bytes as possible`(value: Int64, hex: String) throws {
    #expect(try PacketEncoder().encode(value) == makeBytes(hex))
    #expect(try PacketDecoder().decode(Int64.self, from: makeBytes(hex)) == value)
  }

  @Test(arguments: [23, 24, 255, 256, 65_535, 65_536])
  func `the length of a text takes as few bytes as possible`(count: Int) throws {
    let text = String(repeating: "a", count: count)
    let encoded = try PacketEncoder().encode(text)
    #expect(encoded.count == count + (count < 24 ? 1 : count < 256 ? 2 : count < 65_536 ? 3 : 5))
    #expect(try PacketDecoder().decode(String.self, from: encoded) == text)
  }

  @Test func `map keys are in the order of their encodings`() throws {
    let encoder = PacketEncoder()
    #expect(
      try encoder.encode(["bb": 1, "c": 2, "a": 3, "": 4, "ba": 5])
        == makeBytes("a5 60 04 6161 03 6163 02 626261 05 626262 01"))
    #expect(
      try encoder.encode([-2: 1, 100: 2, -1: 3, 0: 4, 24: 5])
        == makeBytes("a5 00 04 1818 05 1864 02 20 03 21 01"))
    #expect(
      try encoder.encode(["x": 1, "7": 2, "007": 3])
        == makeBytes("a3 6137 02 6178 01 63303037 03"))
  }

  @Test func `the elements of a set and the keys of pairs are in the order of their encodings`()
    throws
  {
    let encoder = PacketEncoder()
    #expect(try encoder.encode(Set([300, -1, 5, 24])) == makeBytes("84 05 1818 19012c 20"))
    let points = [Point(x: 1, y: 0): "a", Point(x: 0, y: 2): "b"]
    #expect(
      try encoder.encode(points)
        == makeBytes("84 a2 6178 00 6179 02 6162 a2 6178 01 6179 00 6161"))
  }

  @Test func `containers are nested at most 32 deep`() throws {
    func nested(_ depth: Int) -> [UInt8] { [UInt8](repeating: 0x81, count: depth) + [0x00] }
    #expect(throws: DecodeError.invalid(what: "CBOR: not an integer")) {
      try PacketDecoder().decode(Int.self, from: nested(32))
    }
    #expect(throws: DecodeError.invalid(what: "CBOR: too deep")) {
      try PacketDecoder().decode(Int.self, from: nested(33))
    }
    #expect(throws: PacketEncoderError.tooDeep(limit: 32)) {
      try PacketEncoder().encode(Nested(depth: 32, strings: ["a"]))
    }
    for value in [Nested(depth: 31, strings: ["a"]), Nested(depth: 32, strings: [])] {
      #expect(try roundTrip(value) == value)
    }
    // Each level of the tree is two maps.
    #expect(try roundTrip(Tree(depth: 15)) == Tree(depth: 15))
    #expect(throws: PacketEncoderError.tooDeep(limit: 32)) {
      try PacketEncoder().encode(Tree(depth: 16))
    }
  }

  @Test func `a field with a number is found by its text as well`() throws {
    let value = Short(x: 1, y: 2)
    #expect(
      try PacketDecoder().decode(Short.self, from: makeBytes("a2 6178 01 6179 02")) == value)
    #expect(
      try PacketDecoder().decode(Short.self, from: makeBytes("a3 00 01 6178 09 6179 02")) == value)
  }

  @Test func `a text that is not UTF-8 is refused`() {
    for hex in ["62c328", "61ff", "63eda080"] {
      #expect(throws: DecodeError.invalid(what: "UTF-8")) {
        try PacketDecoder().decode(String.self, from: makeBytes(hex))
      }
    }
  }

  @Test(
    arguments: [
      ("1b0020000000000000", 9_007_199_254_740_992.0), ("1b0020000000000001", nil),
      ("3b001fffffffffffff", -9_007_199_254_740_992.0), ("3b0020000000000000", nil),
      ("3bffffffffffffffff", nil),
    ] as [(String, Double?)])
  func `an integer is read as a Double only if that is exact`(hex: String, value: Double?) {
    let decoded = try? PacketDecoder().decode(Double.self, from: makeBytes(hex))
    #expect(decoded == value)
  }

  @Test(
    arguments: [
      ("f4", false), ("f5", true), ("f6", nil), ("f814", nil), ("00", nil), ("01", nil),
      ("f90000", nil),
    ] as [(String, Bool?)])
  func `only two values are booleans`(hex: String, value: Bool?) {
    let decoded = try? PacketDecoder().decode(Bool.self, from: makeBytes(hex))
    #expect(decoded == value)
  }

  @Test func `a payload has at most 262,144 items`() throws {
    #expect(PacketDecoder.defaultItemLimit == 262_144)
    let items = [UInt8](repeating: 0, count: 262_144)
    let head: [UInt8] = [0x9A, 0, 4, 0, 0]
    #expect(throws: DecodeError.tooLarge(length: 262_145, limit: 262_144)) {
      try PacketDecoder().decode([UInt16].self, from: head + items)
    }
    let fewer: [UInt8] = [0x9A, 0, 3, 0xFF, 0xFF]
    let values = try PacketDecoder().decode([UInt16].self, from: fewer + items.dropLast())
    #expect(values.count == 262_143)
  }
}

/// A list of strings inside of further lists.
private indirect enum Nested: Codable, Equatable {
  case strings([String])
  case list(Nested)

  init(depth: Int, strings: [String]) {
    self = depth == 0 ? .strings(strings) : .list(Nested(depth: depth - 1, strings: strings))
  }

  init(from decoder: any Decoder) throws {
    if let strings = try? [String](from: decoder) {
      self = .strings(strings)
    } else {
      var container = try decoder.unkeyedContainer()
      self = .list(try container.decode(Nested.self))
    }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.unkeyedContainer()
    switch self {
    case .strings(let strings): for text in strings { try container.encode(text) }
    case .list(let list): try container.encode(list)
    }
  }
}
