import CaromCore
import CaromDiscovery
import CaromGroup
import CaromNearby
import CaromProtocol
import CaromSession
import Foundation

// The members of the sessions: how they connect, what they send each other, and how they leave.
extension PeerEngine {
  func handle(_ event: PeerEvent) {
    switch event {
    case .joined(let peer): didJoin(peer)
    case .left(let peer, _): didLeave(peer)
    default: break
    }
  }

  private func didJoin(_ peer: Peer) {
    guard let member = members[peer.id], member.peer == nil, let running else {
      // No session wants the peer any more.
      running?.nearby.disconnectNow(peer.id)
      return
    }
    let outbox = Outbox(to: peer, on: loop)
    members[peer.id]?.peer = peer
    members[peer.id]?.outbox = outbox
    let endpoints = running.nearby.localEndpoints(limit: PeerAddress.endpointLimit)
    let hello = MemberHello(preference: member.session.preference, endpoints: endpoints)
    _ = outbox.append([MemberMessage.hello(hello).encoded])
    member.session.reportConnecting(member.peerID)
  }

  private func didLeave(_ peer: Peer) {
    guard let member = members[peer.id], member.peer == peer else { return }
    remove(peer.id, from: member.session)
  }

  /// Handles a message of a member. Returns false if it violates the protocol.
  func receive(_ bytes: [UInt8], on channel: UInt8, from peer: Peer) -> Bool {
    guard let member = members[peer.id], member.peer == peer else { return true }
    if channel == Self.unreliable.id {
      if member.isConnected { member.session.reportData(bytes, from: member.peerID, backlog) }
      return true
    }
    guard let message = try? MemberMessage(decoding: bytes.span) else { return false }
    switch message {
    case .hello(let hello): return handle(hello, of: member)
    case .ready: return handleReady(of: member)
    case .data(let bytes): return handleData(bytes, isComplete: true, from: member)
    case .part(let bytes): return handleData(bytes, isComplete: false, from: member)
    case .leave: return true  // the end of the connection follows
    case .introduce(let address):
      guard member.isConnected else { return false }
      handleIntroduction(of: address, by: member)
      return true
    }
  }

  private func handle(_ hello: MemberHello, of member: Member) -> Bool {
    guard member.hello == nil, let peer = member.peer else { return false }
    members[peer.id]?.hello = hello
    guard member.session.preference.isCompatible(with: hello.preference) else {
      disconnect(peer.id, from: member.session)
      return true
    }
    let node = running?.nearby.session.node
    let key = node?.assumeIsolated { $0.security(of: peer.connectionID)?.publicKey }
    let certificate = key.map { [Data($0.bytes)] } ?? []
    let isAnswered = OneAnswer()
    member.session.report { [weak self] session, delegate in
      delegate.session(
        session, didReceiveCertificate: certificate, fromPeer: member.peerID
      ) { isAccepted in
        guard isAnswered.take() else { return }
        self?.post { $0.decide(isAccepted, on: peer) }
      }
    }
    return true
  }

  /// The application has decided whether a peer may connect.
  private func decide(_ isAccepted: Bool, on peer: Peer) {
    guard let member = members[peer.id], member.peer == peer else { return }
    guard isAccepted else { return disconnect(peer.id, from: member.session) }
    members[peer.id]?.hasSentReady = true
    _ = member.outbox?.append([MemberMessage.ready.encoded])
    connectIfReady(peer.id)
  }

  private func handleReady(of member: Member) -> Bool {
    guard member.hello != nil, !member.hasReceivedReady else { return false }
    members[member.peerID.id]?.hasReceivedReady = true
    connectIfReady(member.peerID.id)
    return true
  }

  private func connectIfReady(_ id: PeerID) {
    guard let member = members[id], member.hasSentReady, member.hasReceivedReady,
      !member.isConnected, let peer = member.peer, let outbox = member.outbox
    else { return }
    members[id]?.isConnected = true
    members[id]?.early = []
    member.session.reportConnected(
      SessionCore.Connection(peerID: member.peerID, peer: peer, outbox: outbox))
    introduce(member)
    for arrival in member.early {
      switch arrival {
      case .offer(let offer): handle(offer)
      case .stream(let stream): handle(stream)
      }
    }
  }

  private func handleData(_ bytes: [UInt8], isComplete: Bool, from member: Member) -> Bool {
    let id = member.peerID.id
    guard member.isConnected,
      member.parts.count + bytes.count <= MemberMessage.maximumDataLength
    else { return false }
    guard isComplete else {
      members[id]?.parts.append(contentsOf: bytes)
      return true
    }
    if member.parts.isEmpty {
      member.session.reportData(bytes, from: member.peerID, backlog)
    } else {
      members[id]?.parts = []
      member.session.reportData(member.parts + bytes, from: member.peerID, backlog)
    }
    return true
  }
}

// MARK: - All members of a session connect with each other
extension PeerEngine {
  /// Tells a new member and the others of each other.
  private func introduce(_ new: Member) {
    guard let hello = new.hello else { return }
    let address = PeerAddress(
      id: new.peerID.id, name: new.peerID.displayName, endpoints: hello.endpoints)
    let others = members.values.filter {
      $0.isConnected && $0.session === new.session && $0.peerID.id != new.peerID.id
    }
    for other in others.sorted(by: { $0.peerID.id < $1.peerID.id }) {
      guard let hello = other.hello else { continue }
      let otherAddress = PeerAddress(
        id: other.peerID.id, name: other.peerID.displayName, endpoints: hello.endpoints)
      _ = other.outbox?.append([MemberMessage.introduce(address).encoded])
      _ = new.outbox?.append([MemberMessage.introduce(otherAddress).encoded])
    }
  }

  private func handleIntroduction(of address: PeerAddress, by member: Member) {
    guard address.id != local.id, members[address.id] == nil, members.count < Member.limit else {
      return
    }
    let session = member.session
    let peerID = MCPeerID(address.id, name: address.name)
    let connect: @Sendable (isolated PeerEngine) -> Void = { engine in
      engine.invite(
        peerID, to: session, .introduction, at: address.endpoints, within: .seconds(30))
    }
    guard let place = unintroduced.firstIndex(where: { $0.peer.id == address.id }) else {
      return connect(self)
    }
    accept(unintroduced.remove(at: place), into: session, orElse: connect)
  }
}

// MARK: - Leaving
extension PeerEngine {
  /// Disconnects all members of a session, after what was sent to them before.
  func disconnect(_ session: SessionCore) {
    openSessions[session.token] = nil
    let leaving = members.values.filter { $0.session === session }.map(\.peerID.id)
    for peer in leaving.sorted() { disconnect(peer, from: session) }
  }

  /// Withdraws the attempt to connect to a peer. A connected peer stays.
  func cancelConnecting(to peer: PeerID, _ session: SessionCore) {
    guard let member = members[peer], member.session === session, !member.isConnected else {
      return
    }
    disconnect(peer, from: session)
  }

  func disconnect(_ id: PeerID, from session: SessionCore) {
    guard let member = members[id], member.session === session else { return }
    members[id] = nil
    member.invitation?.cancel()
    session.reportNotConnected(member.peerID)
    guard member.peer != nil, let outbox = member.outbox else { return }
    closing[id] = []
    Task(executorPreference: loop) {
      await outbox.finish()
      await self.close(id)
    }
  }

  private func close(_ id: PeerID) {
    running?.nearby.disconnectNow(id)
    for body in closing.removeValue(forKey: id) ?? [] { body(self) }
    if isStopping { stop() }
  }
}
