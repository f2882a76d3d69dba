import CUVLoop

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The head of an HTTP/1.1 request (RFC 9112).
package struct HTTPRequest: Sendable {
  /// The methods that the door answers; all others are `other`.
  package enum Method: Sendable { case get, head, other }

  /// A header field. The name is in lower case.
  package struct Field: Sendable {
    package let name: String
    package let value: String
  }

  /// The reason why a head was refused.
  package enum Failure: Error {
    /// The head is malformed, or uses syntax that parsers disagree about.
    case malformed
    /// There are more than `fieldLimit` header fields.
    case tooManyFields
  }

  /// The maximum length of a head, in bytes, including the empty line at its end.
  package static let headLimit = 8 << 10
  /// The maximum number of header fields.
  package static let fieldLimit = 64

  package let method: Method
  /// The request target as it was sent, for example "/carom".
  package let target: String
  /// Whether the version is HTTP/1.1.
  package let isVersion11: Bool
  package let fields: [Field]

  /// Parses `head`, which must end with an empty line.
  ///
  /// Besides what RFC 9112 forbids, this refuses what one parser may read differently than another:
  /// lines that do not end with CR LF, folded values, spaces in names and control characters.
  package init(head: [UInt8]) throws(Failure) {
    guard Self.hasStrictLines(head) else { throw .malformed }
    var ranges = [cuv_field](repeating: cuv_field(), count: Self.fieldLimit)
    var parsed = cuv_head()
    let status = unsafe cuv_head_parse(head, head.count, &ranges, ranges.count, &parsed)
    guard status == 0 else { throw status == -E2BIG ? .tooManyFields : .malformed }
    method =
      switch parsed.method {
      case CUV_METHOD_GET: .get
      case CUV_METHOD_HEAD: .head
      default: .other
      }
    target = Self.text(head, parsed.target)
    isVersion11 = parsed.major == 1 && parsed.minor == 1
    fields = try Self.fields(of: head, ranges.prefix(parsed.field_count))
  }

  /// Returns the values of all fields with the name, which must be in lower case.
  package func values(of name: String) -> [String] {
    fields.filter { $0.name == name }.map(\.value)
  }

  /// Returns the elements of a field that is a comma-separated list (RFC 9110 §5.6.1), over all of
  /// its lines.
  package func list(of name: String) -> [String] {
    values(of: name).flatMap { $0.split(separator: ",") }.map { element in
      let bytes = Array(element.utf8)
      return Self.trimmed(bytes, cuv_range(start: 0, count: UInt32(bytes.count)))
    }
  }
}

extension HTTPRequest {
  /// Whether each line ends with CR LF, does not begin with a space or tab (which would continue
  /// the line before it), and contains no other control character than tabs.
  static func hasStrictLines(_ head: [UInt8]) -> Bool {
    for (index, byte) in head.enumerated() {
      switch byte {
      case 0x0A: guard index > 0, head[index - 1] == 0x0D else { return false }
      case 0x0D: guard index + 1 < head.count, head[index + 1] == 0x0A else { return false }
      case 0x09, 0x20: guard index == 0 || head[index - 1] != 0x0A else { return false }
      case 0x21...0x7E, 0x80...0xFF: break
      default: return false
      }
    }
    return true
  }

  /// Returns the header fields that stand in these ranges of a head.
  static func fields(
    of head: [UInt8], _ ranges: ArraySlice<cuv_field>
  ) throws(Failure) -> [Field] {
    var fields: [Field] = []
    for range in ranges {
      let name = text(head, range.name)
      guard !name.isEmpty, name.utf8.allSatisfy(isTokenByte) else { throw .malformed }
      fields.append(Field(name: name.lowercased(), value: trimmed(head, range.value)))
    }
    return fields
  }

  private static func isTokenByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
    }
  }

  private static func text(_ head: [UInt8], _ range: cuv_range) -> String {
    let start = Int(range.start)
    return String(decoding: head[start..<start + Int(range.count)], as: UTF8.self)
  }

  private static func trimmed(_ head: [UInt8], _ range: cuv_range) -> String {
    var bytes = head[Int(range.start)..<Int(range.start) + Int(range.count)]
    while let last = bytes.last, last == 0x20 || last == 0x09 { bytes.removeLast() }
    while let first = bytes.first, first == 0x20 || first == 0x09 { bytes.removeFirst() }
    return String(decoding: bytes, as: UTF8.self)
  }
}
