import CaromCore

/// Splits a byte stream into lines that end with a delimiter of any length.
///
/// The stream may arrive in chunks of any size; lines and delimiters may span chunks. After an
/// error the decoder ignores further input and throws the same error again.
public struct DelimiterDecoder: Sendable {
  /// CR LF, the line ending of most internet text protocols.
  public static let crlf: [UInt8] = [13, 10]
  /// The default value of `limit`: 8 KiB.
  public static let defaultLimit = 8_192

  /// The bytes that end a line. There is at least one.
  public let delimiter: [UInt8]
  /// The maximum length of a line, in bytes without the delimiter.
  public let limit: Int

  /// The bytes received after the last delimiter. Their number is less than `limit` plus the
  /// delimiter's length.
  private var partial: [UInt8] = []
  /// The complete lines that `next()` has not returned yet. If the caller drains the queue after
  /// each chunk, it holds at most the lines of one chunk.
  private var ready = Deque<[UInt8]>()
  private var failure: DelimiterError?

  /// Creates a decoder for the start of a stream.
  public init(delimiter: [UInt8] = crlf, limit: Int = defaultLimit) {
    precondition(!delimiter.isEmpty, "a delimiter must have at least one byte")
    precondition(limit >= 0, "limit is a number of bytes and must not be negative")
    self.delimiter = delimiter
    self.limit = limit
  }

  /// Adds the next chunk of the stream. Afterwards, call `next()` until it returns nil.
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

  /// Returns the next line without its delimiter, or nil if more bytes are needed. Throws an error
  /// only after all lines before it have been returned.
  public mutating func next() throws(DelimiterError) -> [UInt8]? {
    if let line = ready.popFirst() { return line }
    if let failure { throw failure }
    return nil
  }

  /// Handles the end of the stream. Throws `unexpectedEOF` if the stream ends inside a line.
  public mutating func finish() throws(DelimiterError) {
    if failure == nil, !partial.isEmpty { failure = .unexpectedEOF(got: partial.count) }
    if let failure { throw failure }
  }

  /// Removes and returns all received bytes after the last line that `next()` returned. Use this
  /// method for streams that continue in another format, such as a body after header lines.
  public mutating func drainRest() throws(DelimiterError) -> [UInt8] {
    if let failure { throw failure }
    var rest: [UInt8] = []
    while let line = ready.popFirst() { rest += line + delimiter }
    rest += partial
    partial = []
    return rest
  }

  /// Returns whether the current line, with `bytes` appended to it, ends with the delimiter.
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

/// The errors that a `DelimiterDecoder` throws.
public enum DelimiterError: Error, Hashable, Sendable {
  /// A line is longer than `limit` bytes.
  case delimiterTooFar(limit: Int)
  /// The stream ended inside a line, of which `got` bytes were received.
  case unexpectedEOF(got: Int)
}

extension DelimiterError: CustomStringConvertible {
  /// A one-line message with the number of bytes.
  public var description: String {
    switch self {
    case .delimiterTooFar(let limit): "no delimiter within \(limit) bytes"
    case .unexpectedEOF(let got): "unexpected end: received \(got) bytes without a delimiter"
    }
  }
}
