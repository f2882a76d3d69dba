import CaromCore
import CaromDNS
import CaromDiscovery
import CaromGroup
import CaromNearby
import Foundation

/// An advertiser that has been started.
struct Advertising {
  let core: AdvertiserCore
  /// The advertisement; nil before the node has started.
  var id: DiscoveryCore.AdvertisingID?
}

/// A browser that has been started.
struct Browsing {
  let core: BrowserCore
  /// The watch; nil before the node has started.
  var id: DiscoveryCore.WatchingID?
}

// Advertisers and browsers: what they put on the network, and the invitations in both directions.
extension PeerEngine {
  func start(_ core: AdvertiserCore) {
    let number = makeNumber()
    guard !advertisers.values.contains(where: { $0.core === core }) else { return }
    advertisers[number] = Advertising(core: core)
    whenStarted { engine in
      guard engine.advertisers[number] != nil else { return }
      do {
        if let failure = engine.failure { throw failure }
        engine.advertisers[number]?.id = try engine.running?.nearby.advertise(
          core.type, info: DiscoveryInfo.record(of: core.info ?? [:])
        ) { error in
          engine.assumeIsolated { $0.end(number, MCError(.unavailable, reason: "\(error)")) }
        }
      } catch {
        engine.end(number, error as? MCError ?? MCError(.unavailable, reason: "\(error)"))
      }
    }
  }

  private func end(_ number: UInt64, _ error: MCError) {
    guard let advertising = advertisers.removeValue(forKey: number) else { return }
    advertising.core.report { $1.advertiser($0, didNotStartAdvertisingPeer: error) }
  }

  func stop(_ core: AdvertiserCore) {
    for (number, advertising) in advertisers where advertising.core === core {
      advertisers[number] = nil
      if let id = advertising.id { running?.nearby.withdraw(id) }
    }
  }

  func start(_ core: BrowserCore) {
    let number = makeNumber()
    guard !browsers.values.contains(where: { $0.core === core }) else { return }
    browsers[number] = Browsing(core: core)
    whenStarted { engine in
      guard engine.browsers[number] != nil else { return }
      do {
        if let failure = engine.failure { throw failure }
        engine.browsers[number]?.id = try engine.running?.nearby.browse(core.type) { change in
          core.report(change)
        }
      } catch {
        engine.browsers[number] = nil
        let error = error as? MCError ?? MCError(.unavailable, reason: "\(error)")
        core.report { $1.browser($0, didNotStartBrowsingForPeers: error) }
      }
    }
  }

  func stop(_ core: BrowserCore) {
    for (number, browsing) in browsers where browsing.core === core {
      browsers[number] = nil
      if let id = browsing.id { running?.nearby.stopBrowsing(id) }
    }
  }
}

// MARK: - Invitations
extension PeerEngine {
  /// Invites a peer to a session. Its result is reported as the peer's state.
  func invite(
    _ peerID: MCPeerID, to session: SessionCore, _ envelope: InvitationEnvelope,
    at endpoints: [Endpoint] = [], within limit: Duration
  ) {
    let peer = peerID.id
    guard peer != local.id else { return session.reportNotConnected(peerID) }
    if closing[peer] != nil {
      closing[peer]?.append { engine in
        engine.invite(peerID, to: session, envelope, at: endpoints, within: limit)
      }
      return
    }
    if let member = members[peer] {
      // An invitation never disturbs a connection.
      if member.session !== session { session.reportNotConnected(peerID) }
      return
    }
    members[peer] = Member(peerID, of: session)
    whenStarted { engine in
      guard engine.members[peer]?.session === session else { return }
      guard let nearby = engine.running?.nearby else { return engine.remove(peer, from: session) }
      if !endpoints.isEmpty {
        nearby.addNow(NearbyPeer(id: peer, name: peerID.displayName), at: endpoints)
      }
      engine.members[peer]?.invitation = Task(executorPreference: engine.loop) { [weak engine] in
        // This does not throw: `invitePeer` has checked the length of the application's context.
        let result = try? await nearby.invite(peer, context: envelope.encoded, within: limit)
        // The event that the peer has joined reports the rest of an accepted invitation.
        if result != .accepted { await engine?.invitationDidEnd(peer, of: session) }
      }
    }
  }

  private func invitationDidEnd(_ peer: PeerID, of session: SessionCore) {
    guard let member = members[peer], member.session === session, member.peer == nil else { return }
    remove(peer, from: session)
  }

  /// Forgets a member that has not connected, and says so.
  func remove(_ peer: PeerID, from session: SessionCore) {
    guard let member = members[peer], member.session === session else { return }
    members[peer] = nil
    member.end()
    session.reportNotConnected(member.peerID)
  }

  /// Handles the invitation of another peer.
  func handle(_ invitation: NearbyInvitation) {
    let context = invitation.context
    guard let envelope = try? InvitationEnvelope(decoding: context.span) else {
      return answer(invitation, false)
    }
    switch envelope {
    case .invitation(let type, let context): ask(invitation, type, context)
    case .connectionData(let token):
      guard let session = openSessions[token], session.expects(invitation.peer.id) else {
        return answer(invitation, false)
      }
      accept(invitation, into: session)
    case .introduction:
      // The invitation may arrive before the introduction, which comes from the other member.
      unintroduced.removeAll { $0.peer.id == invitation.peer.id }
      unintroduced.append(invitation)
      if unintroduced.count > Member.earlyLimit { answer(unintroduced.removeFirst(), false) }
    }
  }

  private func answer(_ invitation: NearbyInvitation, _ isAccepted: Bool) {
    Task(executorPreference: loop) {
      if isAccepted { await invitation.accept() } else { await invitation.decline() }
    }
  }

  private func ask(_ invitation: NearbyInvitation, _ type: String, _ context: [UInt8]?) {
    let advertisers = advertisers.sorted { $0.key < $1.key }.map(\.value.core)
    guard let core = advertisers.first(where: { $0.type.name == type }) else {
      return answer(invitation, false)
    }
    let peer = MCPeerID(invitation.peer.id, name: invitation.peer.name)
    let isAnswered = OneAnswer()
    core.report { [weak self] advertiser, delegate in
      delegate.advertiser(
        advertiser, didReceiveInvitationFromPeer: peer, withContext: context.map { Data($0) }
      ) { isAccepted, session in
        guard isAnswered.take() else { return }
        let session = isAccepted ? session?.core : nil
        self?.post { $0.answer(invitation, with: session) }
      }
    }
  }

  private func answer(_ invitation: NearbyInvitation, with session: SessionCore?) {
    guard let session else { return answer(invitation, false) }
    guard session.handle?.engine === self else {
      Diagnostics.report("an invitation was accepted with a session of another MCPeerID")
      return answer(invitation, false)
    }
    accept(invitation, into: session)
  }

  /// Accepts an invitation, which makes the peer a member of the session. If it has expired, calls
  /// `alternative`, or reports that the peer is not connected.
  func accept(
    _ invitation: NearbyInvitation, into session: SessionCore,
    orElse alternative: (@Sendable (isolated PeerEngine) -> Void)? = nil
  ) {
    let peer = invitation.peer.id
    let peerID = MCPeerID(peer, name: invitation.peer.name)
    if closing[peer] != nil {
      closing[peer]?.append { $0.accept(invitation, into: session, orElse: alternative) }
      return
    }
    if let member = members[peer] {
      // Both sides have invited each other, which needs no second member.
      return answer(invitation, member.session === session)
    }
    members[peer] = Member(peerID, of: session)
    Task(executorPreference: loop) { [weak self] in
      if await !invitation.accept() {
        await self?.acceptanceDidFail(peer, session, orElse: alternative)
      }
    }
  }

  private func acceptanceDidFail(
    _ peer: PeerID, _ session: SessionCore,
    orElse alternative: (@Sendable (isolated PeerEngine) -> Void)?
  ) {
    guard let alternative else { return invitationDidEnd(peer, of: session) }
    guard members[peer]?.session === session, members[peer]?.peer == nil else { return }
    members[peer] = nil
    alternative(self)
  }
}
