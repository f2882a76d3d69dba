import CaromCore

#if canImport(CaromCrypto)
  import CaromCrypto
#endif

// Connections that this host opens.
extension Host {
  /// Returns the secrets for a connection to a host that advertises a key.
  mutating func makeSecrets(advertisedKey: PublicKey?) -> LinkSecrets? {
    var own = makeSecrets()
    if let advertisedKey { own?.advertisedKey = advertisedKey }
    return own
  }

  /// Ends a connection whose stream is not encrypted, unless it has another stream.
  mutating func endUnsealed(_ id: ConnectionID, key: ConnectionKey, at now: Instant) {
    if index(of: id) == nil {
      let connection = Connection.initiating(as: side, key: key, at: now)
      insert(Entry(id: id, connection: connection, isIncoming: false), at: now)
    }
    guard let index = index(of: id), entries[index].connection.stream == nil else { return }
    close(id, Goodbye(.securityMismatch), as: .securityMismatch, at: now)
  }
}
