import CaromNearby
import CaromTransport
import Foundation
import MultipeerConnectivity

/// The implementation of a `GKMatch`: the session with the other players, and the delegate's calls.
///
/// Used only on the queue of the session's delegate calls, except for the members that are marked.
final class MatchCore: NSObject,
  @unchecked Sendable  // see above
{
  private struct State: Sendable {
    weak var owner: GKMatch?
    var players: [GKPlayer] = []
    /// The keys of the players who have neither connected nor been lost yet.
    var expected: Set<String>
    var hasEnded = false
  }

  let session: MCSession
  let local: GKLocalPlayer
  /// The name of the match, which is the same for all of its players.
  let name: String
  /// The number of players at the beginning, this one included.
  let playerCount: Int
  /// The delegate's calls. Can be used from any thread.
  let calls: DelegateCalls
  /// The other players at the beginning, by key.
  let members: [String: GKPlayer]
  private let state: Locked<State>
  private var reunion: PlayerMeeting?
  /// The time that a player who is invited again has to come back. Set before the match begins.
  var returnTime = DispatchTimeInterval.seconds(30)
  /// The maximum number of bytes that wait for the delegate. Set before the match begins.
  var heldLimit = 16 << 20
  /// The number of bytes that wait for the delegate.
  private var heldBytes = 0
  /// The time within which the players have to answer when the best host is chosen. Set before the
  /// match begins.
  var hostAnswerTime = HostChoice.answerTime
  /// The choice of the best host that is under way here, if this player has the lowest key.
  var choice: HostChoice?
  /// The number of choices that have begun. When a time limit expires, this number shows whether
  /// the choice that it was set for is still the current one.
  var choiceNumber = 0
  /// The closures that receive the result of the choice.
  var deciders: [(String?) -> Void] = []
  /// The keys of the players who have asked for the choice and have not been answered yet. Further
  /// questions of theirs are ignored.
  var askers: Set<String> = []
  /// The last choice.
  var chosen: (host: String?, players: Set<String>, at: ContinuousClock.Instant)?
  /// The closures that wait for an answer of the player with the lowest key. Empty if that is the
  /// local player.
  var questions: [(String?) -> Void] = []
  /// The number of times that this side has asked the player with the lowest key. When a time limit
  /// expires, this number shows whether the question that it was set for is still the current one.
  var questionNumber = 0

  init(
    _ session: MCSession, of local: GKLocalPlayer, with members: [GKPlayer], named name: String,
    playerCount: Int
  ) {
    self.session = session
    self.local = local
    self.name = name
    self.playerCount = playerCount
    self.members = Dictionary(uniqueKeysWithValues: members.map { ($0.key, $0) })
    calls = DelegateCalls(on: session.delegateQueue)
    state = Locked(State(expected: Set(members.map(\.key))))
    super.init()
    session.delegate = self
  }

  // MARK: From any thread

  /// The match that the delegate is told about; nil once it is released.
  var owner: GKMatch? {
    get { state.withLock { $0.owner } }
    set { state.withLock { $0.owner = newValue } }
  }

  /// The connected players, in the order in which they connected.
  var players: [GKPlayer] { state.withLock { $0.players } }

  var expectedPlayerCount: Int { state.withLock { $0.expected.count } }

  /// Leaves the match, of which the delegate is told nothing more.
  func end() {
    state.withLock { $0.hasEnded = true }
    calls.end()
    session.disconnect()
    session.performOnDelegateQueue { [self] in endReunion() }
  }

  func send(_ data: Data, to players: [GKPlayer], _ mode: GKMatch.SendDataMode) throws(GKError) {
    let limit =
      mode == .reliable ? GKSession.maximumDataLength : GKSession.maximumUnreliableLength
    guard data.count <= limit else {
      throw GKError(
        .invalidParameter,
        reason: "the data has \(data.count) bytes, and at most \(limit) can be sent")
    }
    guard players.allSatisfy({ members[$0.key] != nil }) else { throw GKError(.invalidPlayer) }
    let connected = self.players
    let receivers = players.filter(connected.contains)
    if !receivers.isEmpty {
      do {
        try session.send(
          MatchMessage.data(data).encoded, toPeers: receivers.map(\.peerID),
          with: mode == .reliable ? .reliable : .unreliable)
      } catch MCError.notConnected {
        throw GKError(.matchNotConnected)
      } catch { throw GKError(.communicationsFailure, reason: "\(error)") }
    }
    if receivers.count < players.count { throw GKError(.matchNotConnected) }
  }

  // MARK: On the queue

  var hasEnded: Bool { state.withLock { $0.hasEnded } }

  func send(_ message: MatchMessage, to peers: [MCPeerID]) {
    guard !peers.isEmpty else { return }
    // A peer that has gone is reported as not connected.
    try? session.send(message.encoded, toPeers: peers, with: .reliable)
  }

  /// Tells of the players that are connected already, and of those that were lost meanwhile.
  func begin() {
    let connected = session.connectedPeers
    for member in members.values.sorted(by: { $0.key < $1.key }) {
      let state: GKPlayerConnectionState =
        connected.contains(member.peerID) ? .connected : .disconnected
      // Each change is a call of its own, so that the application sees one after the other.
      session.performOnDelegateQueue { [self] in change(member, to: state) }
    }
  }

  /// Queues a call of the delegate.
  func report(_ call: @escaping @Sendable (GKMatch, any GKMatchDelegate) -> Void) {
    calls.post { [weak self] in
      guard let owner = self?.owner, let delegate = owner.delegate else { return }
      call(owner, delegate)
    }
  }

  private func change(_ player: GKPlayer, to new: GKPlayerConnectionState) {
    let isChanged = state.withLock { state in
      let isNew = state.expected.remove(player.key) != nil
      let place = state.players.firstIndex(of: player)
      if new == .connected {
        guard place == nil else { return false }
        state.players.append(player)
      } else if let place {
        state.players.remove(at: place)
      } else {
        return isNew
      }
      return true
    }
    guard isChanged else { return }
    report { $1.match($0, player: player, didChange: new) }
    if new == .connected { endReunion() } else { didLose(player) }
  }

  private func didLose(_ player: GKPlayer) {
    choice?.remove(player.key)
    finishChoiceIfComplete()
    askAgain(after: player)
    guard playerCount == 2, !hasEnded else { return }
    report { [self] match, delegate in
      if delegate.match(match, shouldReinviteDisconnectedPlayer: player) { invite(player) }
    }
  }
}

// MARK: - Inviting again
extension MatchCore {
  private func invite(_ player: GKPlayer) {
    guard reunion == nil, !hasEnded, !players.contains(player) else { return }
    let meeting = PlayerMeeting("reunion \(name)", of: session) { peer in
      peer == player.peerID
    } fail: { [weak self] error in
      self?.fail(GKError(.communicationsFailure, reason: "\(error)"))
    }
    reunion = meeting
    meeting.start()
    session.delegateQueue.asyncAfter(deadline: .now() + returnTime) {
      [weak self, weak meeting] in
      guard let self, let meeting, reunion === meeting else { return }
      fail(GKError(.connectionTimeout, reason: "\(player.displayName) has not come back"))
    }
  }

  private func endReunion() {
    reunion?.stop()
    reunion = nil
  }

  private func fail(_ error: GKError) {
    endReunion()
    report { $1.match($0, didFailWithError: error) }
  }
}

// MARK: - Data
extension MatchCore {
  /// Reports data. Disconnects the player if too much waits for a delegate.
  private func receive(_ data: Data, from player: GKPlayer) {
    if calls.isHolding {
      // Each call takes some memory beside its data.
      heldBytes += data.count + 256
      guard heldBytes <= heldLimit else { return session.disconnect(player.peerID) }
    }
    report { [local] in
      $1.match($0, didReceive: data, forRecipient: local, fromRemotePlayer: player)
    }
  }
}

// MARK: - The session's reports
extension MatchCore: MCSessionDelegate {
  func session(_ session: MCSession, peer peerID: MCPeerID, didChange state: MCSessionState) {
    guard let member = members[GKSession.key(peerID)] else {
      // Somebody who still looks for a match.
      if state == .connected { session.disconnect(peerID) }
      return
    }
    switch state {
    case .connecting: return
    case .connected: change(member, to: .connected)
    case .notConnected:
      reunion?.handleNotConnected(peerID)
      change(member, to: .disconnected)
    }
  }

  func session(_ session: MCSession, didReceive data: Data, fromPeer peerID: MCPeerID) {
    guard let member = members[GKSession.key(peerID)],
      let message = MatchMessage(decoding: data)
    else { return }
    switch message {
    case .data(let data): receive(data, from: member)
    case .askForHost: answer(member)
    case .askForCost:
      session.measureHostCost { [self] in send(.cost($0), to: [peerID]) }
    case .cost(let cost):
      choice?.note(cost, of: member.key)
      finishChoiceIfComplete()
    case .host(let key): answerQuestions(key)
    case .propose, .agree, .refuse, .withdraw, .begin: break  // late messages of the search
    }
  }
}
