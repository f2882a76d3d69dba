/// What a host that uses `LinkKinds.webSocket` serves to browsers on its TCP port.
public struct BrowserOptions: Sendable {
  /// A page, or another file that a page loads.
  public struct Page: Hashable, Sendable {
    /// The content.
    public var bytes: [UInt8]
    /// The media type, for example "text/html; charset=utf-8".
    public var mediaType: String
    /// Whether the status of the answer is 200 (OK) rather than 503 (Service Unavailable).
    public var isAvailable: Bool

    /// Creates a page with the given content.
    public init(_ bytes: [UInt8], mediaType: String, isAvailable: Bool = true) {
      precondition(
        mediaType.utf8.allSatisfy { 0x20...0x7E ~= $0 }, "a media type is printable ASCII text")
      self.bytes = bytes
      self.mediaType = mediaType
      self.isAvailable = isAvailable
    }

    /// Creates a page of plain text.
    public init(text: String, isAvailable: Bool = true) {
      self.init(
        Array(text.utf8), mediaType: "text/plain; charset=utf-8", isAvailable: isAvailable)
    }
  }

  /// How a host serves browsers over TLS.
  public struct Encryption: Sendable {
    /// The certificate, whose names browsers compare with the address.
    public var certificate: TLSCertificate
    /// Whether the host also serves `http` and `ws`, in plaintext. Otherwise such a request for a
    /// page is redirected to `https`, and a WebSocket is refused.
    public var allowsPlaintext: Bool

    /// Creates the settings of a host that uses TLS alone, unless `allowsPlaintext` is true.
    public init(_ certificate: TLSCertificate, allowsPlaintext: Bool = false) {
      self.certificate = certificate
      self.allowsPlaintext = allowsPlaintext
    }
  }

  /// The path at which a browser opens the WebSocket of a session.
  public static let path = "/carom"
  /// The path at which a page asks for what it needs to open a data channel.
  public static let channelPath = "/carom/datagrams"
  /// The subprotocol of the WebSocket (RFC 6455 §1.9), which the client has to request.
  public static let subprotocol = "carom"
  /// The beginning of a further subprotocol, with which a client shows the join code of a host: the
  /// code follows, as in "carom.code.K7QM-2XRT". It counts only over TLS.
  public static let codePrefix = "carom.code."

  /// The maximum length of the content of a resource, in bytes. A longer one is answered with 500
  /// (Internal Server Error).
  public static let resourceSizeLimit = 1 << 20

  /// The pages by path, for example "/" or "/carom.js". A query after the path is ignored. No file
  /// is ever read because of a request.
  public var pages: [String: Page]
  /// Resources whose content is made for each request, by path, for example "/health". A resource
  /// takes the place of a page with the same path.
  ///
  /// A closure is called for each `GET` or `HEAD` request that passes the checks of `hostNames` and
  /// `origins`, on the loop of the session, or on any of its loops. It must answer at once from
  /// memory, because the loop waits for it. Everybody who reaches the port can make such requests.
  public var resources: [String: @Sendable () -> Page]
  /// Further names under which browsers reach the host, without a port. The addresses of the host,
  /// its own name (with and without ".local") and the names in its certificate are always accepted.
  /// A request for any other name
  /// is refused, because a page elsewhere could otherwise point its own name at this host (DNS
  /// rebinding).
  public var hostNames: Set<String>
  /// Further origins, such as "https://game.example", whose pages may use the host. The pages of
  /// the host itself always may.
  public var origins: Set<String>
  /// Whether pages may open a WebRTC data channel beside their WebSocket. It carries the datagrams
  /// of the session on the host's UDP port, so that a lost packet does not hold up those after it.
  /// Where UDP does not get through, the WebSocket carries on.
  ///
  /// A session uses data channels if `LinkKinds.datagram` is among its kinds of links, it runs on
  /// one loop, and it adds no routing bytes to its datagrams.
  public var allowsDataChannels: Bool
  /// How browsers are served over TLS; nil if the host serves `http` and `ws` alone.
  public var encryption: Encryption?

  /// Creates options with the given pages and resources, for a host that is reached under its own
  /// names.
  public init(
    pages: [String: Page] = [:], resources: [String: @Sendable () -> Page] = [:],
    hostNames: Set<String> = [], origins: Set<String> = [], encryption: Encryption? = nil,
    allowsDataChannels: Bool = true
  ) {
    self.pages = pages
    self.resources = resources
    self.hostNames = hostNames
    self.origins = origins
    self.encryption = encryption
    self.allowsDataChannels = allowsDataChannels
  }
}
