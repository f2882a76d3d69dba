import CaromCBOR
import CaromCore
import Testing

/// Types that encode themselves with the containers of the standard library.
@Suite struct NestedContainerTests {
  private enum Key: String, CodingKey { case a, b, c, d }

  /// A value with one container of each kind in another.
  private struct Nest: Codable, Equatable {
    var numbers: [Int]
    var text: String
    var inner: Short

    init(numbers: [Int], text: String, inner: Short) {
      (self.numbers, self.text, self.inner) = (numbers, text, inner)
    }

    func encode(to encoder: any Encoder) throws {
      var map = encoder.container(keyedBy: Key.self)
      var list = map.nestedUnkeyedContainer(forKey: .a)
      for number in numbers { try list.encode(number) }
      var other = map.nestedContainer(keyedBy: Key.self, forKey: .b)
      try other.encode(text, forKey: .c)
      try inner.encode(to: other.superEncoder(forKey: .d))
      try map.encodeNil(forKey: .d)
    }

    init(from decoder: any Decoder) throws {
      let map = try decoder.container(keyedBy: Key.self)
      var list = try map.nestedUnkeyedContainer(forKey: .a)
      numbers = []
      while !list.isAtEnd { numbers.append(try list.decode(Int.self)) }
      let other = try map.nestedContainer(keyedBy: Key.self, forKey: .b)
      text = try other.decode(String.self, forKey: .c)
      inner = try Short(from: other.superDecoder(forKey: .d))
      guard try map.decodeNil(forKey: .d), !map.contains(.c) else {
        throw DecodeError.invalid(what: "nest")
      }
    }
  }

  /// A list with a null, a list, a map and a superclass's container.
  private struct List: Codable, Equatable {
    var inner: Short

    init(inner: Short) { self.inner = inner }

    func encode(to encoder: any Encoder) throws {
      var list = encoder.unkeyedContainer()
      try list.encodeNil()
      var numbers = list.nestedUnkeyedContainer()
      try numbers.encode(UInt8(1))
      try numbers.encode(true)
      var map = list.nestedContainer(keyedBy: Key.self)
      try map.encode(1.5, forKey: .a)
      try inner.encode(to: list.superEncoder())
      #expect(list.count == 4 && numbers.count == 2)
    }

    init(from decoder: any Decoder) throws {
      var list = try decoder.unkeyedContainer()
      #expect(list.count == 4 && list.currentIndex == 0 && !list.isAtEnd)
      let isNull = try list.decodeNil()
      #expect(isNull && list.currentIndex == 1)
      // A value that is not null is not skipped.
      let isNullToo = try list.decodeNil()
      #expect(!isNullToo && list.currentIndex == 1)
      var numbers = try list.nestedUnkeyedContainer()
      let values = (try numbers.decode(UInt8.self), try numbers.decode(Bool.self))
      #expect(values == (1, true) && numbers.isAtEnd && list.currentIndex == 2)
      let map = try list.nestedContainer(keyedBy: Key.self)
      let half = try map.decode(Double.self, forKey: .a)
      #expect(half == 1.5 && map.allKeys == [.a])
      inner = try Short(from: list.superDecoder())
      #expect(list.isAtEnd)
      #expect(throws: DecodeError.self) { try list.decode(Int.self) }
    }
  }

  private struct Fields: Encodable {
    let body: @Sendable (inout KeyedEncodingContainer<Key>) throws -> Void

    func encode(to encoder: any Encoder) throws {
      var map = encoder.container(keyedBy: Key.self)
      try body(&map)
    }
  }

  private struct Nothing: Encodable {
    func encode(to encoder: any Encoder) throws {}
  }

  private struct Twice: Encodable {
    func encode(to encoder: any Encoder) throws {
      var map = encoder.container(keyedBy: Key.self)
      try map.encode(1, forKey: .a)
      var again = encoder.container(keyedBy: Key.self)
      try again.encode(2, forKey: .b)
    }
  }

  @Test func `nested containers have the bytes of maps and arrays in each other`() throws {
    let value = Nest(numbers: [1, -1], text: "x", inner: Short(x: 3, y: 4))
    let bytes = try PacketEncoder().encode(value)
    // {"a": [1, -1], "b": {"c": "x", "d": {0: 3, 1: 4}}, "d": null}
    #expect(bytes == makeBytes("a3616182012061" + "62a261636178" + "6164a200030104" + "6164f6"))
    #expect(try PacketDecoder().decode(Nest.self, from: bytes) == value)
  }

  @Test func `an array may hold null, arrays, maps and a superclass`() throws {
    let value = List(inner: Short(x: 3, y: 4))
    let bytes = try PacketEncoder().encode(value)
    #expect(bytes == makeBytes("84f68201f5a16161f93e00a200030104"))
    #expect(try PacketDecoder().decode(List.self, from: bytes) == value)
  }

  @Test func `of two values for one key the last is encoded, and the keys are in order`() throws {
    let value = Fields { map in
      try map.encode(1, forKey: .b)
      try map.encode(2, forKey: .a)
      try map.encode(3, forKey: .b)
    }
    #expect(try PacketEncoder().encode(value) == makeBytes("a26161026162" + "03"))
    #expect(try PacketEncoder().encode(Twice()) == makeBytes("a26161016162" + "02"))
    #expect(try PacketEncoder().encode(Nothing()) == makeBytes("a0"))
  }

  @Test func `each kind of number and text is encoded in the shortest form, in any container`()
    throws
  {
    let value = Fields { map in
      try map.encode(Int8(-1), forKey: .a)
      try map.encode(UInt16(500), forKey: .b)
      try map.encode(Float(0.5), forKey: .c)
      try map.encode(false, forKey: .d)
    }
    #expect(
      try PacketEncoder().encode(value) == makeBytes("a4616120616219" + "01f46163f938006164f4"))
    let mixed: [Int32?] = [-1, nil, 70_000]
    #expect(try PacketEncoder().encode(mixed) == makeBytes("8320f61a00011170"))
    #expect(try PacketDecoder().decode([Int32?].self, from: makeBytes("8320f61a00011170")) == mixed)
  }

  @Test func `a missing key, a wrong container and a wrong type are errors`() throws {
    let decoder = PacketDecoder()
    for bytes in ["a0", "a161a101", "80", "01", "a3616182010261" + "62a0" + "6164f6"] {
      #expect(throws: DecodeError.self) {
        try decoder.decode(Nest.self, from: makeBytes(bytes))
      }
    }
    #expect(throws: DecodeError.invalid(what: "map: missing key")) {
      try decoder.decode(Short.self, from: makeBytes("a10001"))
    }
  }

  /// Decodes either a number or a text, whichever is there.
  private struct Either: Decodable, Equatable {
    var texts: [String] = []

    init(texts: [String]) { self.texts = texts }

    init(from decoder: any Decoder) throws {
      var list = try decoder.unkeyedContainer()
      while !list.isAtEnd {
        if let short = try? list.decode(Short.self) {
          texts.append("\(short.x)")
        } else {
          texts.append(try list.decode([String].self).joined())
        }
      }
    }
  }

  @Test func `an element that could not be decoded can be decoded as another type`() throws {
    let value = try PacketDecoder().decode(
      Either.self, from: makeBytes("8381616ba2000501068161" + "6d"))
    #expect(value == Either(texts: ["k", "5", "m"]))
  }

  /// Decodes a number as every other type first, and the text after it likewise.
  private struct Patient: Decodable {
    var number = 0
    var text = ""

    typealias Attempt = (inout any UnkeyedDecodingContainer) throws -> Any

    init(from decoder: any Decoder) throws {
      var list = try decoder.unkeyedContainer()
      let containers: [Attempt] = [
        { try $0.nestedUnkeyedContainer() }, { try $0.nestedContainer(keyedBy: Key.self) },
        { try $0.decode([Int].self) },
      ]
      let numbers: [Attempt] = [
        { try $0.decode(Int.self) }, { try $0.decode(Int8.self) }, { try $0.decode(Int16.self) },
        { try $0.decode(Int32.self) }, { try $0.decode(Int64.self) }, { try $0.decode(UInt.self) },
        { try $0.decode(UInt8.self) }, { try $0.decode(UInt16.self) },
        { try $0.decode(UInt32.self) }, { try $0.decode(UInt64.self) },
        { try $0.decode(Double.self) }, { try $0.decode(Float.self) },
      ]
      let others: [Attempt] = [{ try $0.decode(Bool.self) }]
      Self.expectErrors(containers + others + [{ try $0.decode(String.self) }], in: &list)
      number = try list.decode(Int.self)
      Self.expectErrors(containers + others + numbers, in: &list)
      text = try list.decode(String.self)
    }

    private static func expectErrors(
      _ attempts: [Attempt], in list: inout any UnkeyedDecodingContainer
    ) {
      let index = list.currentIndex
      for (number, attempt) in attempts.enumerated() {
        #expect(throws: DecodeError.self) { _ = try attempt(&list) }
        #expect(list.currentIndex == index, "after attempt \(number)")
      }
    }
  }

  /// UnkeyedDecodingContainer: the standard library's decoders advance only on success.
  @Test func `an element of the wrong type stays the next one, whatever type was tried`() throws {
    let value = try PacketDecoder().decode(Patient.self, from: makeBytes("8207" + "6161"))
    #expect(value.number == 7 && value.text == "a")
  }
}
