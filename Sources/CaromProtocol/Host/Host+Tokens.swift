import CaromCore

// Address tokens, which save a returning client a round trip.
extension Host {
  /// Receives a hello with a token. Like a valid cookie, a valid token proves the sender's address.
  /// Nothing is stored for an invalid token.
  mutating func receive(
    _ hello: Hello, _ token: AddressToken, _ bytes: Span<UInt8>, from source: Route, at now: Instant
  ) {
    let tail = HelloTail(of: bytes, after: hello)
    if let id = keys[hello.key] {
      // The hello was duplicated, or its sender has moved to another address since.
      let address = PathAddress(endpoint: source.endpoint, sender: .initiator)
      guard paths[address] == id else { return sendRetry(for: hello, to: source, at: now) }
      if tail.part != nil { acceptHello(hello, tail, from: source, .new, at: now) }
    } else {
      guard token.isValid(for: source.endpoint.address, secret: secret, at: now) else {
        return sendRetry(for: hello, to: source, at: now)
      }
      if deferToDirectory(hello, bytes, from: source) { return }
      guard tokens.use(token.serial) else { return sendRetry(for: hello, to: source, at: now) }
      // A token is valid once, so the hello is no repetition.
      acceptHello(hello, tail, from: source, hasEnded(hello.key) ? .ended : .new, at: now)
    }
    receivePacket(tail, in: bytes, from: source, at: now)
  }

  /// Issues a token for the peer of an accepted connection once the connection is open and the
  /// peer's address is known. Each connection gets one token.
  mutating func issueToken(forConnectionAt index: Int, at now: Instant) {
    guard entries[index].isIncoming, entries[index].wasOpen, !entries[index].hasToken,
      entries[index].connection.isOpen, let route = entries[index].connection.findRoute(),
      !route.isDataChannel
    else { return }
    entries[index].hasToken = true
    if member != nil {
      directoryRequests.append(.issueToken(entries[index].id))
    } else {
      sendToken(tokens.issue(), to: entries[index].id, at: now)
    }
  }

  /// Sends the token with this serial number to a connection's peer.
  mutating func sendToken(_ serial: UInt64, to id: ConnectionID, at now: Instant) {
    guard let index = index(of: id), entries[index].connection.isOpen,
      let route = entries[index].connection.findRoute()
    else { return }
    let token = AddressToken(
      serial: serial, for: route.endpoint.address, secret: secret, at: now)
    entries[index].connection.send(.token(token), on: .datagram, at: now)
    markReady(index)
  }
}
