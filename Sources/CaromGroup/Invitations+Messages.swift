import CaromCore

// The other side's messages, and what follows from them.
extension Invitations {
  /// Handles a message of a peer on the pair's connection. Returns false if the peer must not send
  /// this message now.
  package mutating func handle(
    _ message: MeshMessage, from peer: PeerID, at now: Instant
  ) -> Bool {
    guard let entry = entries[peer], entry.isLinked else { return false }
    switch message {
    case .invite(let request): return receive(request, from: peer, entry, at: now)
    case .answer(let number, let answer):
      // An answer to an invitation that has been withdrawn in the meantime is late, not wrong.
      if entry.sent?.number == number { handle(answer, to: number, from: peer, at: now) }
      return true
    case .withdraw(let number):
      if let received = entry.received, received.request.number == number {
        drop(received, from: peer)
        settle(peer, at: now)
      }
      return true
    case .confirm(let number):
      guard !entry.isJoined else { return true }
      guard let received = entry.received, received.isAccepted,
        received.request.number == number
      else { return false }
      entries[peer]?.received = nil
      join(peer)
      return true
    case .hello, .use: return false
    }
  }

  private mutating func receive(
    _ request: InvitationRequest, from peer: PeerID, _ entry: Entry, at now: Instant
  ) -> Bool {
    guard entry.received == nil else { return false }
    if entry.isJoined {
      emit(.send(.answer(number: request.number, .accepted), peer))
      return true
    }
    let isCrossing = entry.sent != nil
    // The other side accepts this side's invitation; its own is shown only if that fails.
    let isPostponed = isCrossing && local < peer
    let isAccepted = joinsEveryone || isCrossing && !isPostponed
    if !isPostponed, !isAccepted, openCount >= Self.openLimit {
      emit(.send(.answer(number: request.number, .busy), peer))
      return true
    }
    entries[peer]?.idleDeadline = nil
    entries[peer]?.received = Received(request: request, deadline: now + request.timeout)
    if isPostponed { return true }
    if isAccepted {
      answer(peer, number: request.number, .accepted, at: now)
    } else {
      show(peer)
    }
    return true
  }

  private var openCount: Int { entries.values.count { $0.received?.isShown == true } }

  private mutating func show(_ peer: PeerID) {
    guard let received = entries[peer]?.received, !received.isShown else { return }
    entries[peer]?.received?.isShown = true
    let request = received.request
    emit(.invited(peer, number: request.number, context: request.context))
  }

  private mutating func handle(
    _ answer: InvitationAnswer, to number: UInt32, from peer: PeerID, at now: Instant
  ) {
    switch answer {
    case .accepted:
      emit(.send(.confirm(number: number), peer))
      join(peer)
    case .declined: end(peer, .declined, at: now)
    case .busy: end(peer, .busy, at: now)
    }
  }

  mutating func sendInvitation(to peer: PeerID, at now: Instant) {
    guard let sent = entries[peer]?.sent else { return }
    let request = InvitationRequest(
      number: sent.number, timeout: now.duration(to: sent.deadline), context: sent.context)
    emit(.send(.invite(request), peer))
  }

  mutating func join(_ peer: PeerID) {
    guard let entry = entries[peer], !entry.isJoined else { return }
    entries[peer]?.isJoined = true
    entries[peer]?.idleDeadline = nil
    entries[peer]?.sent = nil
    if let received = entry.received { drop(received, from: peer) }
    emit(.joined(peer))
    if let sent = entry.sent, sent.isReported {
      emit(.ended(peer, number: sent.number, .accepted))
    }
  }

  mutating func drop(_ received: Received, from peer: PeerID) {
    entries[peer]?.received = nil
    if received.isShown { emit(.withdrawn(peer, number: received.request.number)) }
  }

  /// Ends this side's invitation without joining.
  mutating func end(_ peer: PeerID, _ result: InvitationResult, at now: Instant) {
    guard let sent = entries[peer]?.sent else { return }
    entries[peer]?.sent = nil
    if sent.isReported { emit(.ended(peer, number: sent.number, result)) }
    if entries[peer]?.received != nil { return show(peer) }
    if entries[peer]?.isLinked == false { entries[peer] = nil }
    emit(.disconnect(peer))
  }

  /// Plans the end of a connection without an invitation. The invited side waits for a while,
  /// since it may be invited again.
  mutating func settle(_ peer: PeerID, at now: Instant) {
    guard let entry = entries[peer], entry.isLinked, !entry.isJoined, entry.sent == nil,
      entry.received == nil
    else { return }
    entries[peer]?.idleDeadline = now + Self.idleLimit
  }
}
