import CaromCBOR
import CaromCore
import Foundation
import Testing

@Suite struct PacketCodingTests {
  @Test func `strings, arrays, dictionaries, numbers and nil are decoded unchanged`() throws {
    let value = Everything(
      text: "Maya’s table 🏒", numbers: [1, -2, .max, .min], names: ["a": 1.5, "007": -0.0, "7": 3],
      byIndex: [-3: "x", 0: "y", 12: "z"], nothing: nil, something: 5, bytes: [0, 255],
      nested: [[true], [], [false, true]], optionals: [1, nil, 3])
    #expect(try roundTrip(value) == value)
  }

  @Test func `the limits of all integer types are decoded unchanged`() throws {
    #expect(try roundTrip([Int8.min, .max]) == [.min, .max])
    #expect(try roundTrip([Int16.min, .max]) == [.min, .max])
    #expect(try roundTrip([Int32.min, .max]) == [.min, .max])
    #expect(try roundTrip([Int64.min, .max]) == [.min, .max])
    #expect(try roundTrip([UInt16.max]) == [.max])
    #expect(try roundTrip([UInt32.max]) == [.max])
    #expect(try roundTrip([UInt64.max]) == [.max])
    #expect(try roundTrip([Float.pi, -.leastNonzeroMagnitude]) == [.pi, -.leastNonzeroMagnitude])
  }

  @Test(arguments: [
    Move.pass, .drop(column: 3), .swap(1, with: 2), .chat(text: "hi", to: nil),
    .chat(text: "", to: "Leo"),
  ])
  func `enums round-trip`(move: Move) throws {
    #expect(try roundTrip(move) == move)
    #expect(try roundTrip([move]) == [move])
  }

  @Test func `enums, top-level optionals and empty structs are decoded unchanged`() throws {
    #expect(try roundTrip([Color.red, .yellow]) == [.red, .yellow])
    #expect(try roundTrip(String?.none) == nil)
    #expect(try roundTrip(String?.some("x")) == "x")
    #expect(try roundTrip(Empty()) == Empty())
  }

  @Test func `dictionaries with other keys are decoded unchanged`() throws {
    let colors = [Color.red: 1, .yellow: 2]
    #expect(try roundTrip(colors) == colors)
    let points = [Point(x: 1, y: 2): "a", Point(x: 0, y: 0): "b"]
    #expect(try roundTrip(points) == points)
    #expect(try roundTrip(Set(0..<50)) == Set(0..<50))
  }

  @Test func `classes with a superclass are decoded unchanged`() throws {
    let value = Derived(name: "d", count: 4)
    let copy = try roundTrip(value)
    #expect(copy.name == "d" && copy.count == 4)
  }

  @Test func `integer coding keys are encoded as integers`() throws {
    #expect(try PacketEncoder().encode(Short(x: 1, y: 2)) == makeBytes("a200010102"))
    #expect(try roundTrip(Short(x: 1, y: 2)) == Short(x: 1, y: 2))
  }

  @Test func `equal values have equal encodings in any order of construction`() throws {
    let names = (0..<100).map { "name\($0)" }
    let up = Dictionary(uniqueKeysWithValues: names.map { ($0, $0.count) })
    let down = Dictionary(uniqueKeysWithValues: names.reversed().map { ($0, $0.count) })
    let encoder = PacketEncoder()
    #expect(try encoder.encode(up) == encoder.encode(down))
    #expect(try encoder.encode(Set(names)) == encoder.encode(Set(names.reversed())))
    let points = (0..<50).map { Point(x: $0, y: -$0) }
    let forth = Dictionary(uniqueKeysWithValues: points.map { ($0, 1) })
    let back = Dictionary(uniqueKeysWithValues: points.reversed().map { ($0, 1) })
    #expect(try encoder.encode(forth) == encoder.encode(back))
  }

  @Test func `an unknown field is ignored`() throws {
    let bytes = try PacketEncoder().encode(["x": 1, "y": 2, "z": 3])
    #expect(try PacketDecoder().decode(Point.self, from: bytes) == Point(x: 1, y: 2))
  }

  @Test func `a value that is nested too deeply for a decoder is not encoded`() throws {
    #expect(try roundTrip(Tree(depth: 10)) == Tree(depth: 10))
    #expect(throws: PacketEncoderError.tooDeep(limit: 32)) {
      try PacketEncoder().encode(Tree(depth: 100))
    }
    let text = "containers are nested deeper than 32"
    #expect("\(PacketEncoderError.tooDeep(limit: 32))" == text)
  }

  @Test func `the bytes of Data are a byte string`() throws {
    let limit = PacketDecoder.defaultItemLimit
    let every = Data((0..<300).map { UInt8($0 % 256) })
    for data in [Data(), Data([1]), every, Data(count: limit + 1)] {
      let bytes = try PacketEncoder().encode(data)
      #expect(try bytes == PacketEncoder().encode([UInt8](data)))
      #expect(try PacketDecoder().decode(Data.self, from: bytes) == data)
      #expect(try roundTrip(["a": data]) == ["a": data])
    }
    // An array of numbers is read too.
    #expect(try PacketDecoder().decode(Data.self, from: [0x82, 1, 0x18, 200]) == Data([1, 200]))
    // Larger numbers could take more memory than the limit on items allows.
    #expect(throws: DecodeError.self) {
      try PacketDecoder().decode([Int].self, from: [0x42, 1, 2])
    }
    #expect(throws: DecodeError.self) {
      try PacketDecoder().decode(Data.self, from: [0x43, 1, 2])
    }
  }

  @Test func `bytes among other elements are elements`() throws {
    struct Mixed: Encodable {
      let isFirst: Bool

      func encode(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        if !isFirst { try container.encode(7) }
        try container.encode(contentsOf: [1, 2] as [UInt8])
        #expect(container.count == (isFirst ? 2 : 3))
        if isFirst { try container.encode(7) }
      }
    }
    #expect(try PacketEncoder().encode(Mixed(isFirst: false)) == [0x83, 7, 1, 2])
    #expect(try PacketEncoder().encode(Mixed(isFirst: true)) == [0x83, 1, 2, 7])
  }

  @Test func `a value with more items than a decoder accepts is not encoded`() throws {
    let limit = PacketDecoder.defaultItemLimit
    let most = [Int](repeating: 1, count: limit - 1)
    #expect(try roundTrip(most) == most)
    #expect(throws: PacketEncoderError.tooManyItems(count: limit + 1, limit: limit)) {
      try PacketEncoder().encode(most + [1])
    }
    // A map, a set, its two elements, and a key that is a string.
    let small = PacketEncoder(itemLimit: 5)
    #expect(try small.encode(["a": Set([1, 2])]).count == 6)
    #expect(throws: PacketEncoderError.tooManyItems(count: 6, limit: 5)) {
      try small.encode(["a": Set([1, 2, 3])])
    }
    // A dictionary whose keys are neither strings nor integers is an array of keys and values.
    #expect(throws: PacketEncoderError.tooManyItems(count: 7, limit: 5)) {
      try small.encode([true: 1, false: 2].mapValues { [$0] })
    }
    #expect(try small.encode([UInt8](repeating: 0, count: 1_000)).count == 1_003)
  }
}

struct Everything: Codable, Equatable {
  var text: String
  var numbers: [Int]
  var names: [String: Double]
  var byIndex: [Int: String]
  var nothing: String?
  var something: Int?
  var bytes: [UInt8]
  var nested: [[Bool]]
  var optionals: [Int?]
}

enum Move: Codable, Equatable {
  case pass
  case drop(column: Int)
  case swap(Int, with: Int)
  case chat(text: String, to: String?)
}

enum Color: String, Codable { case red, yellow }

struct Empty: Codable, Equatable {}

struct Point: Codable, Hashable {
  var x: Int
  var y: Int
}

struct Short: Codable, Equatable {
  var x: Int
  var y: Int
  enum CodingKeys: Int, CodingKey { case x, y }
}

indirect enum Tree: Codable, Equatable {
  case leaf
  case node(Tree)
  init(depth: Int) { self = depth == 0 ? .leaf : .node(Tree(depth: depth - 1)) }
}

class Base: Codable {
  let name: String
  init(name: String) { self.name = name }
}

final class Derived: Base {
  let count: Int
  enum CodingKeys: CodingKey { case count }

  init(name: String, count: Int) {
    self.count = count
    super.init(name: name)
  }

  required init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    count = try container.decode(Int.self, forKey: .count)
    try super.init(from: container.superDecoder())
  }

  override func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(count, forKey: .count)
    try super.encode(to: container.superEncoder())
  }
}
