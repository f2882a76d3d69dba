import CaromCore

/// Finds the lines in a stream: bytes in, in chunks of any size, and out what stands between the
/// delimiters, which may be of any length and lie across chunks.
///
/// After an error the decoder stays failed: it ignores what it receives and throws the same again.
public struct DelimiterDecoder: Sendable {
  /// CR LF, as text protocols end their lines.
  public static let crlf: [UInt8] = [13, 10]
  /// The longest line accepted unless told otherwise, bytes without the delimiter: 8 KiB.
  public static let defaultLimit = 8_192

  /// What ends a line; at least one byte.
  public let delimiter: [UInt8]
  /// The longest line accepted, bytes without the delimiter.
  public let limit: Int

  /// What came after the last delimiter: less than `limit` and a delimiter.
  private var partial: [UInt8] = []
  private var ready = Deque<[UInt8]>()
  private var failure: DelimiterError?

  /// A decoder at the beginning of a stream.
  public init(delimiter: [UInt8] = crlf, limit: Int = defaultLimit) {
    precondition(!delimiter.isEmpty, "a delimiter has a byte at least")
    precondition(limit >= 0, "a limit is a count of bytes, 0 or more")
    self.delimiter = delimiter
    self.limit = limit
  }

  /// Takes the next bytes of the stream; drain `next()` after it.
  public mutating func receive(_ bytes: Span<UInt8>) {
    guard failure == nil else { return }
    let last = delimiter[delimiter.count - 1]
    var start = 0
    for index in bytes.indices where bytes[index] == last {
      guard partial.count + index + 1 - start <= limit + delimiter.count else { break }
      guard endsLine(bytes.extracting(start...index)) else { continue }
      completeLine(with: bytes.extracting(start...index))
      start = index + 1
    }
    let rest = bytes.extracting(start...)
    if partial.count + rest.count >= limit + delimiter.count {
      failure = .delimiterTooFar(limit: limit)
      partial = []
    } else {
      partial.append(copying: rest)
    }
  }

  /// The next line without its delimiter; `nil` means that more bytes are needed.
  /// Lines that came before an error are given out before it is thrown.
  public mutating func next() throws(DelimiterError) -> [UInt8]? {
    if let line = ready.popFirst() { return line }
    if let failure { throw failure }
    return nil
  }

  /// The stream ended: after a delimiter all is well, inside a line it is `unexpectedEOF`.
  public mutating func finish() throws(DelimiterError) {
    if failure == nil, !partial.isEmpty { failure = .unexpectedEOF(got: partial.count) }
    if let failure { throw failure }
  }

  /// Everything after the last line that `next()` gave out, as it came; the decoder is at a
  /// beginning again. For streams that go on in another form, such as a head and then a body.
  public mutating func takeRest() throws(DelimiterError) -> [UInt8] {
    if let failure { throw failure }
    var rest: [UInt8] = []
    while let line = ready.popFirst() { rest += line + delimiter }
    rest += partial
    partial = []
    return rest
  }

  /// Whether the line under way, with these bytes at its end, ends in the delimiter.
  private func endsLine(_ bytes: Span<UInt8>) -> Bool {
    guard partial.count + bytes.count >= delimiter.count else { return false }
    for back in 1...delimiter.count {
      let byte =
        back <= bytes.count
        ? bytes[bytes.count - back] : partial[partial.count - (back - bytes.count)]
      if byte != delimiter[delimiter.count - back] { return false }
    }
    return true
  }

  private mutating func completeLine(with bytes: Span<UInt8>) {
    var line: [UInt8] = []
    swap(&line, &partial)
    let length = line.count + bytes.count - delimiter.count
    if length < line.count {
      line.removeLast(line.count - length)
    } else {
      line.append(copying: bytes.extracting(..<(length - line.count)))
    }
    ready.append(line)
  }
}
