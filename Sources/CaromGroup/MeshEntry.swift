import CaromCore
import CaromProtocol

/// What a mesh knows about one peer.
struct MeshEntry: Hashable, Sendable {
  /// An open connection that has not been selected yet.
  struct Candidate: Hashable, Sendable {
    let connection: ConnectionID
    /// The time at which the connection is closed unless it has been selected.
    let deadline: Instant
    /// What the other side has said about itself; nil before its hello has arrived.
    var hello: MeshHello?
  }

  /// The pair's connection.
  struct Selected: Hashable, Sendable {
    let connection: ConnectionID
    let hello: MeshHello
    /// The number of the selection.
    let use: UInt32
    let since: Instant
  }

  let peer: PeerID
  /// Whether the peer is advertised on the network.
  var isFound = false
  /// Whether the owner wants a connection to this peer in particular.
  var isWanted = false
  /// Whether one of the sides has ended the connection on purpose, so that no other one follows
  /// until the peer is found again.
  var isDismissed = false
  var candidates: [Candidate] = []
  var selected: Selected?
  /// The number of the other side's last selection; 0 if there was none.
  var lastUse: UInt32 = 0
  /// Whether this side is opening a connection.
  var isDialing = false
  /// The time of the next attempt to connect; nil if none is planned.
  var retryAt: Instant?
  /// The number of attempts that have failed in a row.
  var failures = 0

  init(_ peer: PeerID) { self.peer = peer }

  /// Whether there is no connection to the peer, and none is being opened.
  var isIdle: Bool { selected == nil && candidates.isEmpty && !isDialing }

  /// Whether nothing has to be remembered about the peer.
  var isForgettable: Bool { isIdle && !isFound && !isWanted }

  /// The next time at which something is due: an attempt, or the end of the wait for a selection.
  var nextTimeout: Instant? {
    candidates.reduce(isIdle ? retryAt : nil) { earliest($0, $1.deadline) }
  }
}
