import CaromCore

/// Splits the bytes that come from a Redis server into values. Everything is bounded before memory
/// is allocated for it, and what has been read once is not read again when more bytes come.
///
/// After an error, the connection must be closed: the rest of its bytes has no meaning.
package struct RESPDecoder: Sendable {
  /// What a server may send. The defaults leave room for the status of a fleet of 1,000 hosts.
  package struct Limits: Sendable {
    /// The maximum length in bytes of a line: of a simple string, an error or a number.
    package var line = 1_024
    /// The maximum length in bytes of a bulk string. It is more than a result or a state has.
    package var bulkString = 16_384
    /// The maximum number of values in one answer, arrays and what is in them counted alike.
    package var values = 16_384
    /// The maximum number of bytes in one answer.
    package var bytes = 1 << 20
    /// The maximum number of arrays around a value.
    package var depth = 6

    package init() {}
  }

  /// An array of which values are missing.
  private struct OpenArray: Sendable {
    var values: [RESPValue]
    let count: Int
  }

  private let limits: Limits
  private var bytes: [UInt8] = []
  /// Where the next value begins.
  private var position = 0
  /// Up to where no end of the line at `position` has been found.
  private var searched = 0
  /// The arrays around the next value, the outermost one first.
  private var open: [OpenArray] = []
  /// How many values and bytes of the current answer have been read.
  private var valueCount = 0
  private var byteCount = 0

  package init(limits: Limits = Limits()) { self.limits = limits }

  /// Adds bytes from the server. Call `next` until it returns nil before adding more.
  package mutating func append(_ more: Span<UInt8>) {
    if position > 0 {
      bytes.removeFirst(position)
      searched -= position
      position = 0
    }
    bytes.append(copying: more)
  }

  /// Returns the next answer, or nil until all its bytes have come.
  package mutating func next() throws(DecodeError) -> RESPValue? {
    while let value = try nextPart() {
      if let answer = close(value) {
        valueCount = 0
        byteCount = 0
        return answer
      }
    }
    return nil
  }

  /// Puts a value into the array around it, and that into the one around it if it is complete.
  /// Returns the answer when it is.
  private mutating func close(_ value: RESPValue) -> RESPValue? {
    var value = value
    while let last = open.indices.last {
      open[last].values.append(value)
      guard open[last].values.count == open[last].count else { return nil }
      value = .array(open.removeLast().values)
    }
    return value
  }

  /// Reads the next value that is no array with elements.
  private mutating func nextPart() throws(DecodeError) -> RESPValue? {
    while true {
      guard let end = try endOfLine() else { return nil }
      let text = Array(bytes[position + 1..<end])
      switch bytes[position] {
      case UInt8(ascii: "+"): return try finish(.simpleString(text), at: end + 2)
      case UInt8(ascii: "-"): return try finish(.error(text), at: end + 2)
      case UInt8(ascii: ":"): return try finish(.integer(Self.number(text)), at: end + 2)
      case UInt8(ascii: "$"):
        guard let length = try length(text, limit: limits.bulkString) else {
          return try finish(.null, at: end + 2)
        }
        return try readBulkString(from: end + 2, length)
      case UInt8(ascii: "*"):
        guard let count = try length(text, limit: limits.values) else {
          return try finish(.null, at: end + 2)
        }
        guard count > 0 else { return try finish(.array([]), at: end + 2) }
        try beginArray(of: count, at: end + 2)
      default: throw .invalid(what: "type of a value")
      }
    }
  }

  /// Finds the end of the line at `position`.
  private mutating func endOfLine() throws(DecodeError) -> Int? {
    searched = max(searched, position)
    while searched < bytes.count, bytes[searched] != 13 { searched += 1 }
    guard searched - position <= limits.line else {
      throw .tooLarge(length: UInt64(searched - position), limit: UInt64(limits.line))
    }
    guard searched + 1 < bytes.count else { return nil }
    guard searched > position, bytes[searched + 1] == 10 else { throw .invalid(what: "line") }
    return searched
  }

  private mutating func readBulkString(
    from start: Int, _ length: Int
  ) throws(DecodeError) -> RESPValue? {
    guard start + length + 2 <= bytes.count else { return nil }
    guard bytes[start + length] == 13, bytes[start + length + 1] == 10 else {
      throw .invalid(what: "end of a bulk string")
    }
    let content = Array(bytes[start..<start + length])
    return try finish(.bulkString(content), at: start + length + 2)
  }

  private mutating func beginArray(of count: Int, at end: Int) throws(DecodeError) {
    guard open.count < limits.depth else {
      throw .tooLarge(length: UInt64(limits.depth + 1), limit: UInt64(limits.depth))
    }
    _ = try finish(.null, at: end)
    guard valueCount + count <= limits.values else {
      throw .tooLarge(length: UInt64(valueCount + count), limit: UInt64(limits.values))
    }
    open.append(OpenArray(values: [], count: count))
  }

  /// Notes that a value has been read up to `end`.
  private mutating func finish(
    _ value: RESPValue, at end: Int
  ) throws(DecodeError) -> RESPValue {
    valueCount += 1
    byteCount += end - position
    position = end
    guard valueCount <= limits.values else {
      throw .tooLarge(length: UInt64(valueCount), limit: UInt64(limits.values))
    }
    guard byteCount <= limits.bytes else {
      throw .tooLarge(length: UInt64(byteCount), limit: UInt64(limits.bytes))
    }
    return value
  }

  /// Reads a length. Returns nil for -1, which stands for what does not exist.
  private func length(_ text: [UInt8], limit: Int) throws(DecodeError) -> Int? {
    let number = try Self.number(text)
    guard number != -1 else { return nil }
    guard number >= 0 else { throw .invalid(what: "length") }
    guard number <= Int64(limit) else {
      throw .tooLarge(length: UInt64(number), limit: UInt64(limit))
    }
    return Int(number)
  }

  /// Reads a number in the one form that a server sends: no plus sign and no zero in front.
  private static func number(_ text: [UInt8]) throws(DecodeError) -> Int64 {
    let digits = text.first == UInt8(ascii: "-") ? text.dropFirst() : text[...]
    guard (1...19).contains(digits.count), digits.allSatisfy({ 0x30...0x39 ~= $0 }),
      digits.count == text.count || digits.first != 0x30, digits.first != 0x30 || digits.count == 1,
      let number = Int64(String(decoding: text, as: UTF8.self))
    else { throw .invalid(what: "number") }
    return number
  }
}
