import CaromCore

/// Where a path's datagrams come from, and which side of it sends them: two hosts that call each
/// other have two paths between the same endpoints.
struct PathAddress: Hashable, Sendable {
  var endpoint: Endpoint
  var sender: PathRole
}

/// An answer to somebody who is not known, and where it goes.
package struct Answer: Sendable {
  package var bytes: [UInt8]
  package var way: Route
}

// Datagrams: whose they are, and answers to strangers, of whom nothing is remembered.
extension Host {
  /// The most answers to strangers that wait for the socket; more are dropped.
  static let answerLimit = 64
  /// The most keys of connections that have ended that are remembered; with more the oldest goes.
  private static let endedKeyLimit = 64
  /// A datagram of a stranger has at least three times the bytes of its answer.
  private static let leastAnswered = 30

  /// Takes a datagram that came on one of the shell's sockets.
  package mutating func receiveDatagram(
    _ bytes: Span<UInt8>, from source: Route, isRelayed: Bool = false, at now: Instant
  ) {
    guard !bytes.isEmpty else { return }
    if DataHeader.begins(with: bytes[0]) {
      return receiveData(bytes, from: source, isRelayed: isRelayed, at: now)
    }
    var reader = PacketReader(bytes)
    guard let datagram = try? SessionDatagram(decoding: &reader) else { return }
    switch datagram {
    case .hello(let hello):
      receive(hello, bytes, from: source, at: now)
    case .retry(let retry):
      guard let index = caller(at: source.endpoint) else { return }
      entries[index].connection.handleRetry(retry, from: source, at: now)
      settle(index, at: now)
    case .refusal(let refusal):
      guard let index = caller(at: source.endpoint),
        entries[index].connection.key.prefix == refusal.keyPrefix
      else { return }
      entries[index].connection.handleGone(at: now)
      settle(index, at: now)
    case .data: break
    }
  }

  /// Takes the packet that stands behind a hello, if one does.
  mutating func receiveIntroduced(
    _ bytes: Span<UInt8>, behind hello: Hello, from source: Route, at now: Instant
  ) {
    guard bytes.count > hello.length else { return }
    let packet = bytes.extracting(hello.length..<bytes.count)
    receiveData(packet, from: source, isIntroduced: true, at: now)
  }

  private func caller(at source: Endpoint) -> Int? {
    paths[PathAddress(endpoint: source, sender: .responder)].flatMap { index(of: $0) }
  }

  private mutating func receiveData(
    _ bytes: Span<UInt8>, from source: Route, isIntroduced: Bool = false,
    isRelayed: Bool = false, at now: Instant
  ) {
    let sender = DataHeader.role(of: bytes[0])
    if let link = paths[PathAddress(endpoint: source.endpoint, sender: sender)],
      let index = index(of: link)
    {
      lend(index)
      entries[index].connection.receiveDatagram(bytes, at: now)
      lend(index)
      return settleData(index, at: now)
    }
    guard sender == .initiator, !isIntroduced else { return }
    if !isRelayed, relay(bytes, from: source) { return }
    guard bytes.count >= Self.leastAnswered else { return }
    let cookie = Cookie(for: source.endpoint, secret: secret, at: now)
    answer(to: source) { Retry(cookie: cookie, keyPrefix: nil).write(to: &$0) }
  }

  private mutating func receive(
    _ hello: Hello, _ bytes: Span<UInt8>, from source: Route, at now: Instant
  ) {
    if let token = hello.token { return receive(hello, token, bytes, from: source, at: now) }
    if let cookie = hello.cookie, cookie.isValid(for: source.endpoint, secret: secret, at: now) {
      if keys[hello.key] == nil, leave(hello, bytes, from: source) { return }
      welcome(hello, from: source, isSpent: hasEnded(hello.key), at: now)
    } else {
      noteCaller(hello.key)
      askAgain(hello, from: source, at: now)
    }
    if hello.cookie != nil { receiveIntroduced(bytes, behind: hello, from: source, at: now) }
  }

  /// Whoever says hello is to prove its address.
  mutating func askAgain(_ hello: Hello, from source: Route, at now: Instant) {
    let cookie = Cookie(for: source.endpoint, secret: secret, at: now)
    // A hello with a cookie is short, and its caller knows who answers.
    let prefix = hello.cookie == nil ? hello.key.prefix : nil
    answer(to: source) { Retry(cookie: cookie, keyPrefix: prefix).write(to: &$0) }
  }

  /// Somebody proved an address: that of a connection, or of a new one, which is returned.
  @discardableResult
  mutating func welcome(
    _ hello: Hello, from source: Route, isSpent: Bool, at now: Instant
  ) -> ConnectionID? {
    guard let link = keys[hello.key], let index = index(of: link) else {
      return begin(hello, from: source, isSpent: isSpent, at: now)
    }
    entries[index].connection.receive(hello, from: source, at: now)
    settle(index, at: now)
    return nil
  }

  /// Somebody proved an address, and has no connection yet.
  private mutating func begin(
    _ hello: Hello, from source: Route, isSpent: Bool, at now: Instant
  ) -> ConnectionID? {
    let isForgotten = hello.resumes || isSpent
    guard !isForgotten, hello.version == Hello.version, entries.count < Self.linkLimit else {
      let reason: Goodbye.Code =
        hello.version != Hello.version ? .versionMismatch : isForgotten ? .forgotten : .full
      answer(to: source) {
        Refusal(keyPrefix: hello.key.prefix, reason: reason.rawValue).write(to: &$0)
      }
      return nil
    }
    let link = makeLink()
    let connection = Connection.called(
      hello, from: source, as: local, timing: timing, at: now)
    keys[hello.key] = link
    insert(Entry(id: link, connection: connection, isIncoming: true), at: now)
    return link
  }

  mutating func answer(
    to way: Route, _ write: (inout FrameWriter) -> Void
  ) {
    guard answers.count < Self.answerLimit else { return }
    var writer = FrameWriter(limit: Retry.maximumLength)
    write(&writer)
    answers.append(Answer(bytes: writer.takeBytes(), way: way))
  }

  /// The next answer to a stranger, which goes out before anything else.
  package mutating func pollAnswer() -> Answer? {
    answers.popFirst()
  }

  /// Notes where a connection's datagrams come from now.
  mutating func notePaths(_ index: Int, at now: Instant) {
    entries[index].moves = entries[index].connection.moves
    let endpoints = entries[index].connection.datagram?.endpoints ?? []
    let entry = entries[index]
    for endpoint in entry.endpoints where !endpoints.contains(endpoint) {
      forget(endpoint, of: entry)
    }
    for endpoint in endpoints {
      paths[PathAddress(endpoint: endpoint, sender: entry.senderOfItsPeer)] = entry.id
    }
    entries[index].endpoints = endpoints
    offerToken(index, at: now)
  }

  mutating func forget(_ endpoint: Endpoint, of entry: Entry) {
    let address = PathAddress(endpoint: endpoint, sender: entry.senderOfItsPeer)
    if paths[address] == entry.id { paths[address] = nil }
  }

  /// The connection that a stream with the key of `index` belongs to, if that is another one.
  mutating func owner(ofKeyAt index: Int) -> Int? {
    let key = entries[index].connection.key
    guard key != .none else { return nil }
    guard let link = keys[key], let other = self.index(of: link), other != index else {
      keys[key] = links[index]
      return nil
    }
    return entries[other].connection.isEnding ? nil : other
  }

  /// Whether a connection of that key was open here and has ended: what its caller had sent on
  /// another link before may come still, and is no new caller.
  func hasEnded(_ key: ConnectionKey) -> Bool {
    if endedKeys.contains(key) { return true }
    guard let index = keys[key].flatMap({ index(of: $0) }) else { return false }
    return entries[index].wasOpen && entries[index].connection.isEnding
  }

  /// Remembers the key of a connection that was open, in the place of the oldest.
  mutating func noteEnd(of entry: Entry) {
    guard entry.isIncoming, entry.wasOpen, entry.connection.key != .none else { return }
    endedKeys.append(entry.connection.key)
    if endedKeys.count > Self.endedKeyLimit { endedKeys.removeFirst() }
  }

  /// Tells whoever asks on a stream that its connection is not known here any more.
  mutating func turnAway(_ index: Int, at now: Instant) {
    entries[index].connection.close(Goodbye(.forgotten), as: .connectionLost, at: now)
  }

  /// The stream of one entry becomes a link of the other; `info` asked for a seat on it, or nobody.
  mutating func merge(_ index: Int, of info: PeerInfo?, into other: Int, at now: Instant) {
    let (link, owner) = (links[index], links[other])
    guard let stream = entries[index].connection.takeStream() else { return }
    entries[other].connection.adopt(stream, of: info, at: now)
    events.append(.adopted(link, by: owner))
    remove(index)
    if let other = self.index(of: owner) { settle(other, at: now) }
  }
}
