import CaromCore

/// Reads one HTTP/1.1 response (RFC 9112) from the bytes of a connection. The head, each line and
/// the content are bounded before memory is allocated for them.
///
/// After an error, the connection must be closed: the rest of its bytes has no meaning.
package struct HTTPResponseDecoder: Sendable {
  /// A whole response.
  package struct Response: Hashable, Sendable {
    package let status: Int
    package let content: [UInt8]
  }

  package enum Failure: Error, Hashable, Sendable {
    /// The bytes are no response, or use syntax that parsers disagree about.
    case malformed
    /// The head, a line between the chunks or the content is longer than its limit.
    case tooLong
    /// The connection has ended before the response was complete.
    case incomplete
  }

  private enum State: Hashable, Sendable {
    case head
    /// So many bytes of the content are missing.
    case content(Int)
    case chunkSize
    /// So many bytes of a chunk are missing, and the end of its line.
    case chunk(Int)
    /// The fields after the last chunk, of which so many bytes may still come.
    case trailer(Int)
    case untilEnd
    case complete
  }

  /// The maximum length in bytes of the line before a chunk.
  private static let chunkLineLimit = 256
  private static let startOfHead = Array("HTTP/1.".utf8)
  private static let endOfHead: [UInt8] = [0x0D, 0x0A, 0x0D, 0x0A]

  private let contentLimit: Int
  private var state = State.head
  /// What has been received, and up to where it has been read.
  private var bytes: [UInt8] = []
  private var position = 0
  /// Up to where no end of the head has been found.
  private var searched = 0
  private var status = 0
  private var content: [UInt8] = []

  /// Creates a decoder for a response with at most `contentLimit` bytes of content.
  package init(contentLimit: Int) { self.contentLimit = contentLimit }

  /// Adds bytes of the connection. Returns the response once it is complete; what comes after that
  /// is ignored.
  package mutating func append(_ more: Span<UInt8>) throws(Failure) -> Response? {
    guard state != .complete else { return nil }
    bytes.append(copying: more)
    while try step() {}
    bytes.removeFirst(position)
    position = 0
    return state == .complete ? response : nil
  }

  /// Takes the end of the connection. Returns the response if its end is that of the connection.
  package mutating func end() throws(Failure) -> Response {
    guard state == .untilEnd else { throw .incomplete }
    state = .complete
    return response
  }

  private var response: Response { Response(status: status, content: content) }

  /// Reads the next part. Returns false if bytes of it are missing, or if nothing is left to read.
  private mutating func step() throws(Failure) -> Bool {
    switch state {
    case .head: return try readHead()
    case .content(let missing):
      let rest = try read(missing)
      state = rest == 0 ? .complete : .content(rest)
      return false
    case .chunkSize:
      guard let line = try readLine(limit: Self.chunkLineLimit) else { return false }
      let size = try Self.chunkSize(in: line)
      state = size == 0 ? .trailer(HTTPRequest.headLimit) : .chunk(size)
      return true
    case .chunk(let missing):
      let rest = try read(missing)
      state = .chunk(rest)
      guard rest == 0, let line = try readLine(limit: 2) else { return false }
      guard line.isEmpty else { throw .malformed }
      state = .chunkSize
      return true
    case .trailer(let limit):
      guard let line = try readLine(limit: limit) else { return false }
      state = line.isEmpty ? .complete : .trailer(limit - line.count - 2)
      return true
    case .untilEnd:
      _ = try read(bytes.count - position)
      return false
    case .complete: return false
    }
  }

  private mutating func readHead() throws(Failure) -> Bool {
    // What is no response need not come to an end.
    guard zip(bytes, Self.startOfHead).allSatisfy(==) else { throw .malformed }
    let limit = min(bytes.count, HTTPRequest.headLimit)
    while searched < limit, !bytes[...searched].suffix(4).elementsEqual(Self.endOfHead) {
      searched += 1
    }
    guard searched < limit else {
      guard limit < HTTPRequest.headLimit else { throw .tooLong }
      return false
    }
    let end = searched + 1
    position = end
    let head: HTTPResponseHead
    do throws(HTTPRequest.Failure) {
      head = try HTTPResponseHead(head: Array(bytes[..<end]))
    } catch {
      throw error == .tooManyFields ? .tooLong : .malformed
    }
    status = head.status
    switch head.framing {
    case .length(let length):
      guard length <= contentLimit else { throw .tooLong }
      state = .content(length)
    case .chunked: state = .chunkSize
    case .untilEnd: state = .untilEnd
    }
    return true
  }

  /// Moves up to `count` bytes to the content, and returns how many of them are missing.
  private mutating func read(_ count: Int) throws(Failure) -> Int {
    guard count <= contentLimit - content.count else { throw .tooLong }
    let taken = min(count, bytes.count - position)
    content += bytes[position..<position + taken]
    position += taken
    return count - taken
  }

  /// Reads a line that ends with CR LF, and returns it without its end; nil if its end is missing.
  private mutating func readLine(limit: Int) throws(Failure) -> ArraySlice<UInt8>? {
    let rest = bytes[position...].prefix(limit)
    guard let end = rest.firstIndex(of: 0x0A) else {
      guard rest.count < limit else { throw .tooLong }
      return nil
    }
    guard end > position, bytes[end - 1] == 0x0D else { throw .malformed }
    defer { position = end + 1 }
    return bytes[position..<end - 1]
  }

  /// Returns the size of a chunk in its line, which may have extensions (RFC 9112 §7.1).
  private static func chunkSize(in line: ArraySlice<UInt8>) throws(Failure) -> Int {
    let digits = line.prefix { $0 != UInt8(ascii: ";") && $0 != 0x20 && $0 != 0x09 }
    var size = 0
    for digit in digits {
      guard let value = Character(UnicodeScalar(digit)).hexDigitValue, digit < 0x80 else {
        throw .malformed
      }
      guard size < 1 << 40 else { throw .tooLong }
      size = size << 4 | value
    }
    guard !digits.isEmpty else { throw .malformed }
    return size
  }
}
