import CaromCore

// The data channels of pages, which carry datagrams as sockets do.
extension Host {
  /// Returns whether a path that `hello` opens or moves may belong to the connection with its key.
  func accepts(
    _ hello: Hello, from source: Route, for connection: borrowing Connection
  ) -> Bool {
    guard source.isDataChannel else {
      return hello.isSealed == (side.security != nil) && connection.local === side
    }
    // A data channel is encrypted, and the page has got what it needed for it over its WebSocket's
    // own kind of link, which is therefore as good.
    return !hello.isSealed && connection.local.security == nil
  }

  /// Handles the end of the data channel with the page at `route`.
  package mutating func handleChannelEnd(_ route: Route, at now: Instant) {
    guard let id = paths[PathAddress(endpoint: route.endpoint, sender: .initiator)],
      let index = index(of: id), entries[index].connection.findRoute()?.isDataChannel == true
    else { return }
    entries[index].connection.suspendDatagrams(at: now)
    refresh(index, at: now)
  }
}
