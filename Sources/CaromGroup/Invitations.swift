import CaromCore
import CaromProtocol

/// The invitations between this side and its peers, and which peers have joined.
///
/// An invitation is a question on the pair's connection: `invite`, `answer`, and `confirm` once the
/// inviter has received the acceptance in time. The inviter has joined when it sends `confirm`, the
/// invited peer when it receives it. Thus both sides agree whether they have joined, also when the
/// acceptance crosses the inviter's withdrawal. If two peers invite each other at the same time,
/// the invitation of the lower id is the one that counts, and the other side accepts it.
package struct Invitations: Sendable {
  /// What the owner has to do or to know, in order.
  package enum Output: Hashable, Sendable {
    /// Send this message on the pair's connection.
    case send(MeshMessage, PeerID)
    /// A connection to this peer is needed.
    case connect(PeerID)
    /// No invitation needs the connection to this peer any more, and the peer has not joined.
    case disconnect(PeerID)
    /// The peer has invited this side. Answer with `answer` before the invitation is withdrawn.
    case invited(PeerID, number: UInt32, context: [UInt8])
    /// The peer's invitation can no longer be answered.
    case withdrawn(PeerID, number: UInt32)
    /// This side's invitation has ended.
    case ended(PeerID, number: UInt32, InvitationResult)
    /// The peer and this side have joined.
    case joined(PeerID)
  }

  /// The maximum number of received invitations that wait for an answer.
  package static let openLimit = 64
  /// The time for which a connection without an invitation stays open.
  package static let idleLimit = Duration.seconds(15)
  /// The time for which an accepted invitation waits for its confirmation.
  package static let confirmationLimit = Duration.seconds(10)
  /// The time for which a peer that joins everyone waits for the answer of one that does not.
  package static let automaticTimeout = Duration.seconds(30)

  struct Sent: Hashable, Sendable {
    let number: UInt32
    let context: [UInt8]
    let deadline: Instant
    /// Whether the owner made the invitation, rather than the rule that this side joins everyone.
    let isReported: Bool
  }

  struct Received: Hashable, Sendable {
    let request: InvitationRequest
    var deadline: Instant
    /// Whether the owner has been told of the invitation.
    var isShown = false
    var isAccepted = false
  }

  struct Entry: Hashable, Sendable {
    var isLinked = false
    var isJoined = false
    var sent: Sent?
    var received: Received?
    /// The time at which a connection without an invitation is closed.
    var idleDeadline: Instant?
  }

  let local: PeerID
  /// Whether invitations are accepted without asking, and every connected peer is invited.
  let joinsEveryone: Bool
  /// The peers with a connection or an invitation. The dictionary is iterated only through
  /// `sortedPeers`, because its order is not deterministic.
  var entries: [PeerID: Entry] = [:]
  private var lastNumber: UInt32 = 0
  private var outputs = Deque<Output>()

  package init(as local: PeerID, joinsEveryone: Bool) {
    self.local = local
    self.joinsEveryone = joinsEveryone
  }

  /// Removes and returns the next output, or nil if there is none.
  package mutating func pollOutput() -> Output? { outputs.popFirst() }

  /// Whether the peer has joined.
  package func isJoined(_ peer: PeerID) -> Bool { entries[peer]?.isJoined == true }

  mutating func emit(_ output: Output) { outputs.append(output) }

  mutating func makeNumber() -> UInt32 {
    lastNumber &+= 1
    return lastNumber
  }
}

// MARK: - The owner's commands
extension Invitations {
  /// Invites a peer, and connects to it if necessary. Returns the invitation's number, which
  /// `ended` will report; nil if this side waits for the peer's answer to an earlier invitation.
  package mutating func invite(
    _ peer: PeerID, context: [UInt8], timeout: Duration, at now: Instant
  ) -> UInt32? {
    precondition(
      context.count <= InvitationRequest.maximumContextLength,
      "the context of an invitation has at most 4,096 bytes")
    guard entries[peer]?.sent?.isReported != true else { return nil }
    let number = makeNumber()
    var entry = entries[peer] ?? Entry()
    if entry.isJoined {
      emit(.ended(peer, number: number, .accepted))
      return number
    }
    if let automatic = entry.sent { emit(.send(.withdraw(number: automatic.number), peer)) }
    entry.sent = Sent(
      number: number, context: context, deadline: now + timeout, isReported: true)
    entry.idleDeadline = nil
    entries[peer] = entry
    if entry.isLinked { sendInvitation(to: peer, at: now) } else { emit(.connect(peer)) }
    return number
  }

  /// Withdraws this side's invitation to a peer, if it still has this number.
  package mutating func cancel(_ peer: PeerID, number: UInt32, at now: Instant) {
    guard let entry = entries[peer], entry.sent?.number == number else { return }
    if entry.isLinked { emit(.send(.withdraw(number: number), peer)) }
    end(peer, .cancelled, at: now)
  }

  /// Answers the invitation of a peer. Returns false if it is no longer open.
  @discardableResult
  package mutating func answer(
    _ peer: PeerID, number: UInt32, _ answer: InvitationAnswer, at now: Instant
  ) -> Bool {
    guard var received = entries[peer]?.received, received.request.number == number,
      !received.isAccepted
    else { return false }
    emit(.send(.answer(number: number, answer), peer))
    guard answer == .accepted else {
      entries[peer]?.received = nil
      settle(peer, at: now)
      return true
    }
    received.isAccepted = true
    received.deadline = now + Self.confirmationLimit
    entries[peer]?.received = received
    return true
  }
}

// MARK: - The mesh's events
extension Invitations {
  /// The pair's connection was selected. `joins` is whether both sides join everyone.
  package mutating func handleLinked(_ peer: PeerID, joins: Bool, at now: Instant) {
    var entry = entries[peer] ?? Entry()
    entry.isLinked = true
    entry.received = nil
    entries[peer] = entry
    if joins { return join(peer) }
    if entry.sent == nil, joinsEveryone {
      let number = makeNumber()
      entries[peer]?.sent = Sent(
        number: number, context: [], deadline: now + Self.automaticTimeout, isReported: false)
    }
    if entries[peer]?.sent == nil {
      entries[peer]?.idleDeadline = now + Self.idleLimit
    } else {
      sendInvitation(to: peer, at: now)
    }
  }

  /// The pair's connection has ended. This side's invitation waits for another connection.
  package mutating func handleUnlinked(_ peer: PeerID) {
    guard let entry = entries[peer] else { return }
    if let received = entry.received, received.isShown {
      emit(.withdrawn(peer, number: received.request.number))
    }
    entries[peer] = nil
    guard let sent = entry.sent, sent.isReported else { return }
    var waiting = Entry()
    waiting.sent = sent
    entries[peer] = waiting
  }

  /// An attempt to connect to a peer has failed. If trying again is of no use, its invitation ends.
  package mutating func handleFailed(_ peer: PeerID, _ reason: DisconnectReason, at now: Instant) {
    guard entries[peer]?.isLinked == false, entries[peer]?.sent != nil,
      let result = InvitationResult(failure: reason)
    else { return }
    end(peer, result, at: now)
  }

  /// Ends the invitations that were not answered in time, and the connections without any.
  package mutating func handleTimeout(at now: Instant) {
    for peer in sortedPeers {
      if let sent = entries[peer]?.sent, sent.deadline <= now {
        if entries[peer]?.isLinked == true { emit(.send(.withdraw(number: sent.number), peer)) }
        end(peer, .timedOut, at: now)
      }
      if let received = entries[peer]?.received, received.deadline <= now {
        drop(received, from: peer)
        settle(peer, at: now)
      }
      if let idle = entries[peer]?.idleDeadline, idle <= now {
        entries[peer]?.idleDeadline = nil
        emit(.disconnect(peer))
      }
    }
  }

  /// The next time at which `handleTimeout` must be called, or nil if nothing is due.
  package var nextTimeout: Instant? {
    entries.values.reduce(nil) { time, entry in
      earliest(
        time,
        earliest(entry.idleDeadline, earliest(entry.sent?.deadline, entry.received?.deadline)))
    }
  }

  private var sortedPeers: [PeerID] { entries.keys.sorted() }
}
