import CaromCore

// A host that shares its port with others: what it does not know by itself waits for the shell,
// which locks what all of them know and lets it consult that. Whatever is another host's goes
// there as mail; packets of its own connections ask nobody.

/// What a host cannot settle by itself.
enum HostMatter: Sendable {
  /// A caller's first hello, which proves nothing yet.
  case calling(ConnectionKey)
  /// The hello of an address that is proven, with a key that is not known here.
  case hello(Hello, [UInt8], from: Route)
  /// A link whose peer asks for a seat, with a stream that may be another host's.
  case request(ConnectionID, PeerInfo)
  /// A stream that joins a connection which is not known here.
  case join(ConnectionID)
  case admit(ConnectionID)
  /// A link whose peer is to have a token for the next time.
  case token(ConnectionID)
  /// A link that asked for a seat has ended.
  case leave(ConnectionID, PeerID)
  /// A link is gone.
  case release(ConnectionKey, ConnectionID, wasOpen: Bool)
}

extension Host {
  /// The most strangers' hellos that wait to be settled; more are dropped, and said again.
  private static let helloLimit = 256
  /// The most addresses that are noted as another host's; with more all are forgotten, and say
  /// hello once more.
  private static let relayLimit = 4096

  /// Whether it has to consult the directory.
  package var hasMatters: Bool { !matters.isEmpty }

  /// Settles what waits with what all hosts of the group know.
  package mutating func consult(_ directory: inout HostDirectory, at now: Instant) {
    guard let member else { return }
    while let matter = matters.popFirst() {
      switch matter {
      case .calling(let key): directory.noteCaller(key, at: member)
      case .hello(let hello, let bytes, let way):
        settle(hello, bytes, from: way, &directory, at: now)
      case .request(let link, let info): settle(request: link, info, &directory, at: now)
      case .join(let link): settle(join: link, directory, at: now)
      case .admit(let link):
        guard let id = asker(on: link) else { continue }
        take(directory.seating.admit(link, id), for: link, at: now)
      case .token(let link): give(directory.tokens.issue(), to: link, at: now)
      case .leave(let link, let id): directory.seating.leave(link, id)
      case .release(let key, let link, let wasOpen):
        directory.release(key, of: link, wasOpen: wasOpen)
      }
    }
  }

  /// The next piece of mail, and which host it is for.
  package mutating func pollMail() -> (mail: HostMail, member: Int)? { mail.popFirst() }

  package var hasMail: Bool { !mail.isEmpty }
}

// MARK: - Datagrams
extension Host {
  mutating func noteCaller(_ key: ConnectionKey) {
    guard member != nil, keys[key] == nil, matters.count < Self.helloLimit else { return }
    matters.append(.calling(key))
  }

  /// Whether a hello that nobody here knows is left to the directory.
  mutating func leave(_ hello: Hello, _ bytes: Span<UInt8>, from source: Route) -> Bool {
    guard member != nil else { return false }
    if matters.count < Self.helloLimit {
      matters.append(.hello(hello, Array(copying: bytes), from: source))
    }
    return true
  }

  private mutating func settle(
    _ hello: Hello, _ bytes: [UInt8], from source: Route, _ directory: inout HostDirectory,
    at now: Instant
  ) {
    let place = directory.find(hello.key)
    if case .owned(let owner) = place, owner.member != member {
      if relays.count >= Self.relayLimit { relays.removeAll() }
      relays[source.endpoint] = owner.member
      mail.append((.datagram(bytes, from: source), owner.member))
      return
    }
    if let token = hello.token {
      if keys[hello.key] != nil { return receive(hello, token, bytes.span, from: source, at: now) }
      guard directory.tokens.use(token.serial) else {
        return askAgain(hello, from: source, at: now)
      }
    }
    relays[source.endpoint] = nil
    if let link = welcome(hello, from: source, isSpent: place == .ended, at: now) {
      directory.claim(hello.key, for: link)
    }
    receiveIntroduced(bytes.span, behind: hello, from: source, at: now)
  }

  /// Whether a datagram of an address that is another host's went there.
  mutating func relay(_ bytes: Span<UInt8>, from source: Route) -> Bool {
    guard !relays.isEmpty, let owner = relays[source.endpoint] else { return false }
    mail.append((.datagram(Array(copying: bytes), from: source), owner))
    return true
  }
}

// MARK: - Streams
extension Host {
  private mutating func settle(
    request link: ConnectionID, _ info: PeerInfo, _ directory: inout HostDirectory, at now: Instant
  ) {
    guard let index = index(of: link), !entries[index].connection.isEnding else { return }
    let key = entries[index].connection.key
    if key != .none {
      switch directory.find(key) {
      case .owned(let owner) where owner.member != member:
        return handOver(index, of: info, to: owner.member, at: now)
      case .owned(let owner) where owner != link:
        if let other = self.index(of: owner), !entries[other].connection.isEnding {
          return merge(index, of: info, into: other, at: now)
        }
        if hasEnded(key) { return refuse(index, at: now) }
      case .calling(let caller) where caller != member && !entries[index].wasHanded:
        return handOver(index, of: info, to: caller, at: now)
      case .ended: return refuse(index, at: now)
      case .owned, .calling, .nobody: break
      }
      directory.claim(key, for: link)
    }
    guard hasSeats(for: info) else { return turnDown(index, at: now) }
    take(directory.seating.ask(link, info), for: link, info, at: now)
  }

  private mutating func settle(join link: ConnectionID, _ directory: HostDirectory, at now: Instant)
  {
    guard let index = index(of: link), !entries[index].connection.isEnding else { return }
    if case .owned(let owner) = directory.find(entries[index].connection.key) {
      if owner.member != member { return handOver(index, of: nil, to: owner.member, at: now) }
      if let other = self.index(of: owner), other != index,
        !entries[other].connection.isEnding
      {
        return merge(index, of: nil, into: other, at: now)
      }
    }
    refuse(index, at: now)
  }

  private mutating func refuse(_ index: Int, at now: Instant) {
    turnAway(index, at: now)
    settle(index, at: now)
  }

  /// The stream of a link becomes another host's, with what was read of it.
  private mutating func handOver(
    _ index: Int, of info: PeerInfo?, to owner: Int, at now: Instant
  ) {
    let link = links[index]
    let key = entries[index].connection.key
    guard let path = entries[index].connection.takeStream() else { return }
    mail.append((.stream(link, HandedStream(path: path, key: key, info: info)), owner))
    remove(index)
  }
}

// MARK: - Mail
extension Host {
  /// Takes a datagram that came to another host of the group.
  package mutating func receiveRelayed(_ bytes: Span<UInt8>, from source: Route, at now: Instant) {
    receiveDatagram(bytes, from: source, isRelayed: true, at: now)
  }

  /// Takes a stream that came to another host of the group, as a link; `false` when there are too
  /// many.
  package mutating func accept(
    _ handed: HandedStream, as link: ConnectionID, at now: Instant
  ) -> Bool {
    guard entries.count < Self.linkLimit else { return false }
    let connection = Connection.handed(handed, as: local, timing: timing, at: now)
    var entry = Entry(id: link, connection: connection, isIncoming: true)
    entry.wasHanded = true
    insert(entry, at: now)
    return true
  }

  /// A link of this host makes room for one of another's.
  package mutating func evict(_ link: ConnectionID, for other: ConnectionID, at now: Instant) {
    close(link, Goodbye(.replaced), as: .replaced, at: now)
    mail.append((.evicted(for: other), other.member))
  }
}
