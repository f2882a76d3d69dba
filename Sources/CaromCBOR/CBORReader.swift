import CaromCore

/// A position in a CBOR message (RFC 8949), with methods that read the item at that position.
///
/// The reader accepts items of definite length without tags, with arguments of any width and map
/// keys in any order. It throws `invalid` for all other forms. `check` validates a whole message
/// before any value is decoded from it.
struct CBORReader {
  private let bytes: [UInt8]
  private var offset = 0

  /// Creates a reader at the first byte of a message.
  init(_ bytes: [UInt8]) { self.bytes = bytes }

  private var remaining: Int { bytes.count - offset }

  // MARK: Structure

  /// Checks that the message is a single item. Throws if its containers are nested deeper than
  /// `maximumDepth` or if it has more than `maximumItems` items.
  func check(maximumDepth: Int, maximumItems: Int) throws(DecodeError) {
    var reader = self
    var left = maximumItems
    var pending = 1
    var open: [Int] = []  // for each open container, the number of items still to come
    while pending > 0 {
      guard left > 0 else {
        throw .tooLarge(length: UInt64(maximumItems) + 1, limit: UInt64(maximumItems))
      }
      left -= 1
      let items = try reader.skipHead()
      pending += items - 1
      if !open.isEmpty { open[open.count - 1] -= 1 }
      if items > 0 {
        guard open.count < maximumDepth else { throw .invalid(what: "CBOR: too deep") }
        open.append(items)
      }
      while open.last == 0 { open.removeLast() }
    }
    guard reader.remaining == 0 else { throw .trailingBytes(reader.remaining) }
  }

  /// Skips the item, with everything nested in it.
  mutating func skip() throws(DecodeError) {
    var left = 1
    while left > 0 { left += try skipHead() - 1 }
  }

  /// Skips the head of an item and, if the item is a string, its content. Returns the number of
  /// items nested directly in the item.
  private mutating func skipHead() throws(DecodeError) -> Int {
    let head = try readHead()
    switch head.major {
    case .unsigned, .negative, .simple: return 0
    case .bytes, .text:
      offset += try length(head.argument)
      return 0
    case .array: return try length(head.argument)
    case .map: return 2 * (try length(head.argument))
    case .tag: throw .invalid(what: "CBOR: a tag")
    }
  }

  /// Returns an argument as a length in bytes or items. Throws `truncated` if the length exceeds
  /// the number of remaining bytes, since every item takes at least one byte.
  private func length(_ argument: UInt64) throws(DecodeError) -> Int {
    guard argument <= UInt64(remaining) else {
      throw .truncated(wanted: Int(clamping: argument), remaining: remaining)
    }
    return Int(argument)
  }

  /// The head of an item: its initial byte and its argument (RFC 8949 §3).
  private struct Head {
    let major: CBORMajor
    /// The number of bytes of the argument after the initial byte.
    let width: Int
    let argument: UInt64
  }

  private mutating func readHead() throws(DecodeError) -> Head {
    guard offset < bytes.count else { throw .truncated(wanted: 1, remaining: 0) }
    let first = bytes[offset]
    guard let major = CBORMajor(rawValue: first >> 5) else { throw .invalid(what: "CBOR: head") }
    offset += 1
    let short = first & 0x1F
    if short < 24 { return Head(major: major, width: 0, argument: UInt64(short)) }
    guard short < 28 else { throw .invalid(what: "CBOR: an indefinite or reserved length") }
    let width = 1 << Int(short - 24)
    guard remaining >= width else { throw .truncated(wanted: width, remaining: remaining) }
    var argument: UInt64 = 0
    for index in offset..<offset + width { argument = argument << 8 | UInt64(bytes[index]) }
    offset += width
    return Head(major: major, width: width, argument: argument)
  }

  // MARK: Values

  /// Whether the item is null.
  var isNull: Bool { offset < bytes.count && bytes[offset] == 0xF6 }

  /// Whether the next item is a byte string.
  var isByteString: Bool {
    offset < bytes.count && bytes[offset] >> 5 == CBORMajor.bytes.rawValue
  }

  /// Reads a value with `read`, without moving this reader's position.
  func value<Value>(
    _ read: (inout CBORReader) throws(DecodeError) -> Value
  ) throws(DecodeError) -> Value {
    var copy = self
    return try read(&copy)
  }

  /// Decodes the item as a value of the given type.
  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    if type == String.self,
      let text = try value({ reader throws(DecodeError) in try reader.text() }) as? Value
    {
      return text
    }
    if type == [UInt8].self, isByteString,
      let string = try value({ reader throws(DecodeError) in Array(try reader.byteString()) })
        as? Value
    {
      return string
    }
    return try Value(from: ValueDecoder(item: self))
  }

  mutating func bool() throws(DecodeError) -> Bool {
    let head = try readHead()
    guard head.major == .simple, head.width == 0, head.argument == 20 || head.argument == 21 else {
      throw .invalid(what: "CBOR: not a boolean")
    }
    return head.argument == 21
  }

  mutating func integer<Value: FixedWidthInteger>() throws(DecodeError) -> Value {
    let head = try readHead()
    let value: Value? =
      switch head.major {
      case .unsigned: Value(exactly: head.argument)
      case .negative: Int64(exactly: head.argument).flatMap { Value(exactly: ~$0) }
      default: throw .invalid(what: "CBOR: not an integer")
      }
    guard let value else { throw .invalid(what: "CBOR: an integer out of range") }
    return value
  }

  /// Reads a floating-point number of any width, or an integer that a `Double` represents exactly.
  mutating func double() throws(DecodeError) -> Double {
    let head = try readHead()
    let value: Double? =
      switch (head.major, head.width) {
      case (.simple, 2): HalfFloat(bits: UInt16(head.argument)).value
      case (.simple, 4): Double(Float(bitPattern: UInt32(head.argument)))
      case (.simple, 8): Double(bitPattern: head.argument)
      case (.unsigned, _): Double(exactly: head.argument)
      case (.negative, _): Int64(exactly: head.argument).flatMap { Double(exactly: ~$0) }
      default: throw .invalid(what: "CBOR: not a number")
      }
    guard let value else { throw .invalid(what: "CBOR: an integer that no Double represents") }
    return value
  }

  /// Reads a number that a `Float` represents exactly.
  mutating func float() throws(DecodeError) -> Float {
    let value = try double()
    guard value.isNaN || Double(Float(value)) == value else {
      throw .invalid(what: "CBOR: a number that no Float represents")
    }
    return Float(value)
  }

  mutating func text() throws(DecodeError) -> String {
    let utf8 = try string(.text)
    guard let text = String(validating: utf8, as: UTF8.self) else { throw .invalid(what: "UTF-8") }
    return text
  }

  mutating func byteString() throws(DecodeError) -> ArraySlice<UInt8> { try string(.bytes) }

  mutating func key() throws(DecodeError) -> CBORKey {
    let isText = offset < bytes.count && bytes[offset] >> 5 == CBORMajor.text.rawValue
    return isText ? .text(Array(try text().utf8)) : .integer(try integer())
  }

  mutating func readArrayHead() throws(DecodeError) -> Int { try readCount(.array) }

  mutating func readMapHead() throws(DecodeError) -> Int { try readCount(.map) }

  private mutating func readCount(_ major: CBORMajor) throws(DecodeError) -> Int {
    let head = try readHead()
    guard head.major == major else { throw .invalid(what: "CBOR: not the container expected") }
    return try length(head.argument)
  }

  private mutating func string(_ major: CBORMajor) throws(DecodeError) -> ArraySlice<UInt8> {
    let head = try readHead()
    guard head.major == major else { throw .invalid(what: "CBOR: not the string expected") }
    let count = try length(head.argument)
    defer { offset += count }
    return bytes[offset..<offset + count]
  }
}
