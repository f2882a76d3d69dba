import CaromCore

// What spares a guest that comes again a round trip.
extension Host {
  /// A hello with a token: as good as one with a cookie where the token counts, which takes no
  /// memory to find out.
  mutating func receive(
    _ hello: Hello, _ token: AddressToken, _ bytes: Span<UInt8>, from source: Route, at now: Instant
  ) {
    if let link = keys[hello.key] {
      // It came twice, or its caller moved at once.
      let address = PathAddress(endpoint: source.endpoint, sender: .initiator)
      guard paths[address] == link else { return askAgain(hello, from: source, at: now) }
    } else {
      guard token.isValid(for: source.endpoint.address, secret: secret, at: now) else {
        return askAgain(hello, from: source, at: now)
      }
      if leave(hello, bytes, from: source) { return }
      guard tokens.use(token.serial) else { return askAgain(hello, from: source, at: now) }
      welcome(hello, from: source, isSpent: hasEnded(hello.key), at: now)
    }
    receiveIntroduced(bytes, behind: hello, from: source, at: now)
  }

  /// Gives the peer of a connection a token, once, as soon as its address is known.
  mutating func offerToken(_ index: Int, at now: Instant) {
    guard entries[index].isIncoming, entries[index].wasOpen, !entries[index].hasToken,
      entries[index].connection.isOpen, !entries[index].connection.datagrams.isEmpty,
      entries[index].connection.datagrams[0].way != nil
    else { return }
    entries[index].hasToken = true
    if member != nil {
      matters.append(.token(links[index]))
    } else {
      give(tokens.issue(), to: links[index], at: now)
    }
  }

  /// The token with that number becomes a peer's.
  mutating func give(_ serial: UInt64, to link: ConnectionID, at now: Instant) {
    guard let index = index(of: link), entries[index].connection.isOpen,
      let way = entries[index].connection.datagrams.first?.way
    else { return }
    let token = AddressToken(
      serial: serial, for: way.endpoint.address, secret: secret, at: now)
    entries[index].connection.say(.token(token), by: .datagram, at: now)
    markReady(index)
  }
}
