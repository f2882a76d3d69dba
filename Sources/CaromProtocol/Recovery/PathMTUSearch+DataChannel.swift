#if arch(wasm32)
  /// What is known of the datagrams of a page in a browser. All of them go through a data channel,
  /// which carries datagrams of one length, so there is nothing to search for and nothing to
  /// record.
  struct PathMTUSearch: Sendable {
    /// The length in bytes that the path carries.
    static let base = SessionWire.dataChannelPayload

    var overhead: UInt8 { 0 }
    var size: Int { Self.base }

    init(maximum: Int, overhead: UInt8 = 0, at now: Int64) {}

    func probe(at now: Int64) -> Int? { nil }
    func recordProbeSent() {}
    func recordProbeAcknowledged(_ bytes: Int, at now: Int64) {}
    func recordProbeLost(at now: Int64) {}
    func recordAcknowledged(_ bytes: Int, sent: Int64) {}
    func recordLost(_ bytes: Int, sent: Int64, patience: Int64, at now: Int64) -> Bool { false }
    func fallBack(at now: Int64) {}
  }
#endif
