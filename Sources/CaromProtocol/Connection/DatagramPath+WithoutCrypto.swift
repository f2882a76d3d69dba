#if !canImport(CaromCrypto)
  // What has no CaromCrypto is a page in a browser. It opens its connections itself, to one host,
  // and has no tokens.
  extension DatagramPath {
    var isInitiator: Bool { true }
    var isEncrypted: Bool {
      get { false }
      set {}
    }
    var handshake: LinkHandshake? {
      get { nil }
      set {}
    }
    var keys: LinkKeys? {
      get { nil }
      set {}
    }
    var packetKeys: PacketKeys? {
      get { nil }
      set {}
    }
    var forgedPackets: UInt64 {
      get { 0 }
      set {}
    }
    var token: AddressToken? {
      get { nil }
      set {}
    }
    var hasToken: Bool { false }
    var beginsWithTicket: Bool {
      get { false }
      set {}
    }
    var unprovenBudget: Int? {
      get { nil }
      set {}
    }
  }
#endif
