import CaromCore
import CaromTransport

/// Decides how a host answers the requests of browsers.
struct DoorPolicy {
  enum Answer: Hashable, Sendable {
    case respond(HTTPResponse)
    /// The stream becomes a WebSocket after these bytes, the answer to the opening handshake. Over
    /// TLS, the peer may have shown a join code.
    case upgrade([UInt8], code: String?)
  }

  let options: BrowserOptions
  /// The name of this computer.
  let hostName: String
  /// Makes an offer of a data channel to a page that has reached the host at an address; nil if
  /// there are no data channels.
  var makeOffer: ((Endpoint) -> DataChannels.Offer?)?

  /// Returns the answer to `request`, which has arrived at `local`. `isTLS` tells whether it has
  /// arrived over TLS.
  func answer(_ request: HTTPRequest, at local: Endpoint, isTLS: Bool = false) -> Answer {
    if let refusal = findRefusal(of: request, at: local, isTLS) { return .respond(refusal) }
    if !isTLS, options.encryption?.allowsPlaintext == false {
      return .respond(Self.redirect(request))
    }
    let path = String(request.target.prefix { $0 != "?" })
    let isUpgrade = request.list(of: "upgrade").contains { $0.lowercased() == "websocket" }
    if isUpgrade { return answerUpgrade(request, path: path, isTLS) }
    guard path != BrowserOptions.path else {
      return .respond(
        HTTPResponse(
          .upgradeRequired, "This address is for WebSockets only.",
          fields: ["Upgrade: websocket"]))
    }
    guard request.method != .other else { return .respond(Self.methodNotAllowed("GET, HEAD")) }
    let isHeadOnly = request.method == .head
    if path == BrowserOptions.channelPath {
      return .respond(answerChannel(request, at: local, isHeadOnly: isHeadOnly))
    }
    if let resource = options.resources[path] {
      return .respond(HTTPResponse(resource: resource(), isHeadOnly: isHeadOnly))
    }
    guard let page = options.pages[path] else { return .respond(Self.notFound) }
    return .respond(HTTPResponse(page, isHeadOnly: isHeadOnly))
  }

  /// Returns the answer that sends a browser to the same address over TLS (RFC 9110 §15.4.9). A
  /// WebSocket follows no redirect (RFC 6455 §4.1).
  private static func redirect(_ request: HTTPRequest) -> HTTPResponse {
    let address = "https://\(request.values(of: "host")[0])\(request.target)"
    return HTTPResponse(
      .permanentRedirect, "This host uses TLS alone: open \(address)",
      fields: ["Location: \(address)"])
  }

  private static let notFound = HTTPResponse(.notFound, "There is no such page.")

  private static func methodNotAllowed(_ methods: String) -> HTTPResponse {
    HTTPResponse(
      .methodNotAllowed, "This method is not supported.", fields: ["Allow: \(methods)"])
  }

  /// Returns the refusal of a request that is not for this host or not to be trusted.
  private func findRefusal(
    of request: HTTPRequest, at local: Endpoint, _ isTLS: Bool
  ) -> HTTPResponse? {
    guard request.isVersion11 else {
      return HTTPResponse(.versionNotSupported, "This host speaks HTTP/1.1.")
    }
    let hosts = request.values(of: "host")
    guard hosts.count == 1, request.target.hasPrefix("/") else {
      return HTTPResponse(.badRequest, "The request needs one Host field and a path.")
    }
    // A body would let two parsers disagree about where the next request begins.
    guard request.values(of: "transfer-encoding").isEmpty,
      request.values(of: "content-length").allSatisfy({ $0 == "0" })
    else { return HTTPResponse(.badRequest, "Requests with a body are not supported.") }
    guard isOwn(hosts[0], at: local) else {
      return HTTPResponse(.misdirectedRequest, "This host does not have that name.")
    }
    let origins = request.values(of: "origin")
    guard origins.allSatisfy({ isTrusted($0, from: hosts[0], isTLS) }), origins.count <= 1 else {
      return HTTPResponse(.forbidden, "Pages of other sites cannot use this host.")
    }
    return nil
  }

  /// Returns the answer to a page that asks for a data channel. A page behind a proxy would look
  /// for the host at the proxy's address, or at one that only the proxy can reach.
  private func answerChannel(
    _ request: HTTPRequest, at local: Endpoint, isHeadOnly: Bool
  ) -> HTTPResponse {
    let isProxied = ["forwarded", "x-forwarded-for", "via"].contains {
      !request.values(of: $0).isEmpty
    }
    guard !isProxied, !local.address.isLinkLocal, let offer = makeOffer?(local) else {
      return HTTPResponse(.notFound, "This host has no data channels.")
    }
    let page = BrowserOptions.Page(Array(offer.json.utf8), mediaType: "application/json")
    return HTTPResponse(resource: page, isHeadOnly: isHeadOnly)
  }

  /// Returns the answer to the opening handshake of a WebSocket (RFC 6455 §4.2).
  private func answerUpgrade(_ request: HTTPRequest, path: String, _ isTLS: Bool) -> Answer {
    guard path == BrowserOptions.path else { return .respond(Self.notFound) }
    guard request.method == .get else { return .respond(Self.methodNotAllowed("GET")) }
    guard request.values(of: "sec-websocket-version") == ["13"] else {
      return .respond(
        HTTPResponse(
          .upgradeRequired, "This host speaks version 13 of the WebSocket protocol.",
          fields: ["Sec-WebSocket-Version: 13", "Upgrade: websocket"]))
    }
    let keys = request.values(of: "sec-websocket-key")
    let protocols = request.list(of: "sec-websocket-protocol")
    guard request.list(of: "connection").contains(where: { $0.lowercased() == "upgrade" }),
      keys.count == 1, let answer = WebSocketKey.makeAnswer(to: keys[0]),
      protocols.contains(BrowserOptions.subprotocol)
    else { return .respond(HTTPResponse(.badRequest, "The opening handshake is not valid.")) }
    let lines = [
      "HTTP/1.1 101 Switching Protocols", "Upgrade: websocket", "Connection: Upgrade",
      "Sec-WebSocket-Accept: \(answer)", "Sec-WebSocket-Protocol: \(BrowserOptions.subprotocol)",
    ]
    let code = protocols.first { $0.hasPrefix(BrowserOptions.codePrefix) }
    return .upgrade(
      Array((lines.map { "\($0)\r\n" }.joined() + "\r\n").utf8),
      code: isTLS ? code.map { String($0.dropFirst(BrowserOptions.codePrefix.count)) } : nil)
  }

  // MARK: - Names

  /// Whether the value of a Host field names this host, which was reached at `local`.
  private func isOwn(_ authority: String, at local: Endpoint) -> Bool {
    guard let name = Self.host(of: authority) else { return false }
    if let address = IPAddress(name) { return address.isSame(as: local.address) }
    let lowercased = name.lowercased()
    if lowercased == "localhost" { return local.address.isLoopback }
    return ownNames.contains(lowercased)
      || options.encryption?.certificate.covers(lowercased) == true
  }

  private var ownNames: Set<String> {
    var names = Set(options.hostNames.map { $0.lowercased() })
    let own = hostName.lowercased()
    if let label = own.split(separator: ".").first { names.formUnion([own, "\(label).local"]) }
    return names
  }

  /// Whether a page of `origin` may use this host, whose Host field is `authority`. Over TLS, a
  /// page in plaintext is not the host's own: somebody on the network may have made it.
  private func isTrusted(_ origin: String, from authority: String, _ isTLS: Bool) -> Bool {
    let origin = origin.lowercased()
    let host = authority.lowercased()
    return origin == "https://\(host)" || !isTLS && origin == "http://\(host)"
      || options.origins.contains { $0.lowercased() == origin }
  }

  /// Returns the host of `host`, `host:port`, `[address]` or `[address]:port`, or nil if malformed.
  /// The port may be empty.
  static func host(of authority: String) -> String? {
    var host = Substring(authority)
    var port: Substring?
    if authority.hasPrefix("[") {
      guard let end = authority.firstIndex(of: "]") else { return nil }
      host = authority[authority.index(after: authority.startIndex)..<end]
      let rest = authority[authority.index(after: end)...]
      guard rest.isEmpty || rest.hasPrefix(":") else { return nil }
      port = rest.isEmpty ? nil : rest.dropFirst()
    } else if let colon = authority.firstIndex(of: ":") {
      host = authority[..<colon]
      port = authority[authority.index(after: colon)...]
    }
    guard isPort(port ?? ""), !host.isEmpty else { return nil }
    return String(host)
  }

  /// Whether `text` is the port of an authority: decimal digits, or nothing (RFC 3986 §3.2.3).
  private static func isPort(_ text: Substring) -> Bool {
    let isDecimal = text.utf8.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
    return text.isEmpty || isDecimal && UInt16(text) != nil
  }
}

extension IPAddress {
  /// Whether both are the same address, whatever their scopes: a browser cannot name a scope.
  fileprivate func isSame(as other: IPAddress) -> Bool {
    switch (self, other) {
    case (.v4(let one), .v4(let two)): one == two
    case (.v6(let high, let low, _), .v6(let otherHigh, let otherLow, _)):
      high == otherHigh && low == otherLow
    default: false
    }
  }
}
