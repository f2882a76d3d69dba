/// An answer to an HTTP request, after which the host closes the stream.
struct HTTPResponse: Hashable, Sendable {
  /// The status codes that a host answers with (RFC 9110 §15; RFC 6585 §5 for 431).
  enum Status: Int, Sendable {
    case ok = 200
    case permanentRedirect = 308
    case badRequest = 400
    case forbidden = 403
    case notFound = 404
    case methodNotAllowed = 405
    case requestTimeout = 408
    case misdirectedRequest = 421
    case upgradeRequired = 426
    case headTooLarge = 431
    case internalServerError = 500
    case serviceUnavailable = 503
    case versionNotSupported = 505

    var reason: String {
      switch self {
      case .ok: "OK"
      case .permanentRedirect: "Permanent Redirect"
      case .badRequest: "Bad Request"
      case .forbidden: "Forbidden"
      case .notFound: "Not Found"
      case .methodNotAllowed: "Method Not Allowed"
      case .requestTimeout: "Request Timeout"
      case .misdirectedRequest: "Misdirected Request"
      case .upgradeRequired: "Upgrade Required"
      case .headTooLarge: "Request Header Fields Too Large"
      case .internalServerError: "Internal Server Error"
      case .serviceUnavailable: "Service Unavailable"
      case .versionNotSupported: "HTTP Version Not Supported"
      }
    }
  }

  let status: Status
  var mediaType = "text/plain; charset=utf-8"
  /// What caches may do with the response: store it and ask again before each use, by default.
  private var cacheControl = "no-cache"
  /// Further header fields.
  var fields: [String] = []
  var body: [UInt8] = []
  /// Whether only the head is sent, because that is what the request asked for.
  var isHeadOnly = false

  /// Creates a response whose body is one line of text.
  init(_ status: Status, _ text: String, fields: [String] = []) {
    self.status = status
    self.fields = fields
    body = Array("\(text)\n".utf8)
  }

  /// Creates the response with a page.
  init(_ page: BrowserOptions.Page, isHeadOnly: Bool) {
    status = page.isAvailable ? .ok : .serviceUnavailable
    mediaType = page.mediaType
    body = page.bytes
    self.isHeadOnly = isHeadOnly
  }

  /// Creates the response with the present content of a resource, which caches must not store.
  init(resource page: BrowserOptions.Page, isHeadOnly: Bool) {
    if page.bytes.count <= BrowserOptions.resourceSizeLimit {
      self.init(page, isHeadOnly: isHeadOnly)
    } else {
      self.init(.internalServerError, "The content is too long.")
      self.isHeadOnly = isHeadOnly
    }
    cacheControl = "no-store"
  }

  /// The bytes of the response.
  var encoded: [UInt8] {
    let lines =
      [
        "HTTP/1.1 \(status.rawValue) \(status.reason)", "Content-Type: \(mediaType)",
        "Content-Length: \(body.count)", "Cache-Control: \(cacheControl)",
        "X-Content-Type-Options: nosniff", "Connection: close",
      ] + fields
    let head = lines.map { "\($0)\r\n" }.joined() + "\r\n"
    return Array(head.utf8) + (isHeadOnly ? [] : body)
  }
}
