import CaromCore

#if canImport(CaromCrypto)
  import CaromCrypto

  // Connections to a host whose key is known beforehand. On a datagram path, the request for a seat
  // is part of the first message, so that the answer to it can be the grant. The message is bound
  // to the hello before it, whose cookie or token is of use to one address only. On a stream there
  // is no such proof, so the request follows the handshake.
  extension Connection {
    /// Begins a stream's handshake with a host whose key is known. Returns nil if it is not.
    mutating func makeKnownStreamHandshake() -> LinkHandshake? {
      makeKnownHandshake(of: .none, hello: [], payload: [])
    }

    /// Begins the handshake of the datagram path with a host whose key is known. Call this whenever
    /// the hello that precedes the first message may have changed.
    mutating func beginKnownHandshake() {
      guard let hello = datagram?.makeOpeningHello(), datagram?.handshake?.known?.hello != hello
      else { return }
      var payload: [UInt8] = []
      ControlPacket.request(version: SessionWire.version, key, local.peer)
        .withMessage { payload = Array(copying: $0) }
      let handshake = makeKnownHandshake(of: key, hello: hello, payload: payload)
      if let handshake { datagram?.handshake = handshake }
    }

    private mutating func makeKnownHandshake(
      of key: ConnectionKey, hello: [UInt8], payload: [UInt8]
    ) -> LinkHandshake? {
      guard let security = local.security, var own = secrets,
        let host = security.findHostKey(advertised: own.advertisedKey)
      else { return nil }
      defer { secrets = own }
      return .initiating(
        security, host: host, key: key, hello: hello, payload: payload,
        ephemeral: KeyPair(secret: own.next()))
    }
  }
#else
  extension Connection {
    mutating func makeKnownStreamHandshake() -> LinkHandshake? { nil }
    mutating func beginKnownHandshake() {}
  }
#endif
