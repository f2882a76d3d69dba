import Foundation
import MultipeerConnectivity

/// A search for a match: all who look for the same one are connected with each other, and agree on
/// who plays.
///
/// Used on the queue of the session's delegate calls alone.
final class MatchSearch: NSObject,
  @unchecked Sendable  // see above
{
  /// What is looked for.
  struct Criteria: Sendable {
    /// The kind of match, as a text. Only players whose texts are equal are put into one match.
    var text: String
    var counts: ClosedRange<Int>
    /// The keys of those with whom this one plays; nil for everyone.
    var recipients: Set<String>?
  }

  /// The range of `MatchNegotiation.retryTime`, in milliseconds.
  private static let retryTimes = 300...700

  let session: MCSession
  private let player: GKLocalPlayer
  private let text: String
  private var negotiation: MatchNegotiation
  private var meeting: PlayerMeeting?
  /// The connected players, by key.
  private var peers: [String: MCPeerID] = [:]
  private let start = ContinuousClock.now
  private var end: ((MatchSearch, Result<MatchCore, GKError>) -> Void)?

  /// Creates a search. `end` is called once, with the match or with the reason why there is none.
  init(
    _ criteria: Criteria, by player: GKLocalPlayer,
    _ end: @escaping (MatchSearch, Result<MatchCore, GKError>) -> Void
  ) {
    self.player = player
    self.end = end
    text = criteria.text
    session = MCSession(peer: player.peerID)
    negotiation = MatchNegotiation(
      as: player.key, players: criteria.counts, recipients: criteria.recipients,
      retryTime: .milliseconds(Int.random(in: Self.retryTimes)),
      lastNumber: UInt32.random(in: .min ... .max))
    super.init()
  }

  /// Begins to look for others.
  func begin() {
    guard end != nil else { return }
    session.delegate = self
    let meeting = PlayerMeeting(text, of: session) { _ in
      true
    } fail: { [weak self] error in
      self?.finish(.failure(GKError(.communicationsFailure, reason: "\(error)")))
    }
    self.meeting = meeting
    meeting.start()
  }

  /// Ends the search without a match, unless it has ended already.
  func cancel() { finish(.failure(GKError(.cancelled))) }

  private func finish(_ result: Result<MatchCore, GKError>) {
    guard let end else { return }
    self.end = nil
    meeting?.stop()
    meeting = nil
    if case .failure = result { session.disconnect() }
    end(self, result)
  }

  private var now: Duration { start.duration(to: .now) }

  /// Carries out what the negotiation wants.
  private func drain() {
    for output in negotiation.takeOutputs() {
      switch output {
      case .send(let message, let key):
        guard let peer = peers[key] else { continue }
        // A peer that has gone is reported as not connected.
        try? session.send(message.encoded, toPeers: [peer], with: .reliable)
      case .begin(let players, let name): return begin(players, name)
      }
    }
    guard let next = negotiation.nextTimeout, end != nil else { return }
    let wait = max(next - now, .milliseconds(1))
    let milliseconds = Int(wait / .milliseconds(1)) + 1
    session.delegateQueue.asyncAfter(deadline: .now() + .milliseconds(milliseconds)) {
      [weak self] in self?.handleTimeout()
    }
  }

  private func handleTimeout() {
    guard end != nil else { return }
    let due = negotiation.nextTimeout.map { $0 <= now } ?? false
    // Otherwise a later change has planned another call.
    guard due else { return }
    negotiation.handleTimeout(at: now)
    drain()
  }

  private func begin(_ players: [String], _ name: String) {
    let others = players.filter { $0 != player.key }
    let members = others.compactMap { key in peers[key].map(GKPlayer.init) }
    for (key, peer) in peers.sorted(by: { $0.key < $1.key }) where !others.contains(key) {
      session.disconnect(peer)
    }
    let core = MatchCore(
      session, of: player, with: members, named: name, playerCount: players.count)
    finish(.success(core))
  }
}

extension MatchSearch: MCSessionDelegate {
  func session(_ session: MCSession, peer peerID: MCPeerID, didChange state: MCSessionState) {
    let key = GKSession.key(peerID)
    switch state {
    case .connecting: return
    case .connected:
      peers[key] = peerID
      negotiation.connect(key, at: now)
    case .notConnected:
      peers[key] = nil
      negotiation.disconnect(key, at: now)
      meeting?.handleNotConnected(peerID)
    }
    drain()
  }

  func session(_ session: MCSession, didReceive data: Data, fromPeer peerID: MCPeerID) {
    guard let message = MatchMessage(decoding: data) else { return }
    negotiation.receive(message, from: GKSession.key(peerID), at: now)
    drain()
  }
}
