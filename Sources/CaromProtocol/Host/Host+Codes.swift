import CaromCore
import CaromCrypto

// Attempts to prove a host's code.
extension Host {
  /// The maximum number of refused attempts that are remembered. Beyond this number, the oldest one
  /// is forgotten.
  private static let refusedAttemptLimit = 64

  /// Decides whether to accept an attempt that a peer made with the join code on a connection. In a
  /// group, asks the directory to decide instead.
  mutating func handleAttempt(_ id: ConnectionID, isRight: Bool, at now: Instant) {
    guard member == nil else {
      return directoryRequests.append(.attempt(id, isRight: isRight))
    }
    var gate: CodeGate? = gate
    apply(decision(about: id, isRight: isRight, &gate, at: now), to: id, at: now)
    self.gate = gate
  }

  /// Decides, with the gate of the group, whether to accept an attempt that a peer made with the
  /// join code on a connection.
  mutating func decide(
    _ id: ConnectionID, isRight: Bool, _ gate: inout CodeGate?, at now: Instant
  ) {
    apply(decision(about: id, isRight: isRight, &gate, at: now), to: id, at: now)
    if let index = index(of: id) { refresh(index, at: now) }
  }

  private func decision(
    about id: ConnectionID, isRight: Bool, _ gate: inout CodeGate?, at now: Instant
  ) -> GateDecision {
    let peer = index(of: id).flatMap { entries[$0].connection.provenPeer }
    return gate?.decide(isRight: isRight, by: peer, at: now) ?? GateDecision(refusal: .wrongCode)
  }

  private mutating func apply(_ decision: GateDecision, to id: ConnectionID, at now: Instant) {
    if let failure = decision.failure { report(.wrongCode(failure)) }
    guard let index = index(of: id) else { return }
    guard let code = decision.refusal else { return entries[index].connection.acceptAttempt() }
    let key = entries[index].connection.key
    guard let route = entries[index].connection.refuseAttempt(code, at: now) else { return }
    refusedAttempts.append((key, code))
    if refusedAttempts.count > Self.refusedAttemptLimit { refusedAttempts.removeFirst() }
    reply(to: route) { Refusal(keyPrefix: key.prefix, reason: code.rawValue).write(to: &$0) }
  }
}

extension Host {
  /// The public key with which others can begin their handshakes with this host, and which it may
  /// advertise; nil if handshakes with it begin in another way.
  package var knownKey: PublicKey? {
    guard let security = side.security, security.pattern == .xx else { return nil }
    return security.identity?.publicKey
  }

  /// Returns what the peer of a connection has proven: its key, or the ticket of its connect
  /// token. Returns nil if the connection is in plaintext or has no keys.
  package func proof(of id: ConnectionID) -> (key: PublicKey?, ticket: AcceptedTicket?)? {
    guard let index = index(of: id), let keys = entries[index].connection.newestKeys else {
      return nil
    }
    return (keys.peerKey, keys.ticket?.ticket)
  }
}
