import CUVLoop

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The head of an HTTP/1.1 response (RFC 9112).
package struct HTTPResponseHead: Sendable {
  /// How the length of the content is known (RFC 9112 §6.3).
  package enum Framing: Hashable, Sendable {
    case length(Int)
    case chunked
    /// The content ends when the connection does.
    case untilEnd
  }

  package let status: Int
  package let fields: [HTTPRequest.Field]
  package let framing: Framing

  /// Parses `head`, which must end with an empty line. Refuses what `HTTPRequest` does, interim
  /// responses, which nobody has asked for, and codings of the content other than `chunked`.
  package init(head: [UInt8]) throws(HTTPRequest.Failure) {
    guard HTTPRequest.hasStrictLines(head) else { throw .malformed }
    var ranges = [cuv_field](repeating: cuv_field(), count: HTTPRequest.fieldLimit)
    var parsed = cuv_head()
    let result = unsafe cuv_response_parse(head, head.count, &ranges, ranges.count, &parsed)
    guard result == 0 else { throw result == -E2BIG ? .tooManyFields : .malformed }
    guard parsed.major == 1, 200...599 ~= parsed.status else { throw .malformed }
    status = Int(parsed.status)
    fields = try HTTPRequest.fields(of: head, ranges.prefix(parsed.field_count))
    framing = try Self.framing(status: status, fields)
  }

  private static func framing(
    status: Int, _ fields: [HTTPRequest.Field]
  ) throws(HTTPRequest.Failure) -> Framing {
    if status == 204 || status == 304 { return .length(0) }
    let codings = fields.filter { $0.name == "transfer-encoding" }.map { $0.value.lowercased() }
    let lengths = Set(fields.filter { $0.name == "content-length" }.map(\.value))
    if !codings.isEmpty {
      guard codings == ["chunked"], lengths.isEmpty else { throw .malformed }
      return .chunked
    }
    guard let text = lengths.first else { return .untilEnd }
    guard lengths.count == 1, text.utf8.allSatisfy({ 0x30...0x39 ~= $0 }), let length = Int(text)
    else { throw .malformed }
    return .length(length)
  }
}
