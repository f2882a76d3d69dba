import CaromCore
import CaromProtocol
import CaromSimulation

/// The spectators of a match without a server: on the session's host, broadcasts the confirmed
/// ticks of the host's game to them.
struct RollbackGallery<Game: Simulation & PacketCodable> {
  /// Nil while there is no spectator, since broadcasting simulates the game a second time.
  private var broadcaster: RollbackBroadcaster<Game>?
  /// The spectators, indexed by their numbers at the broadcaster.
  private var spectators: [Peer?] = []
  private var isSeatDue: [Bool] = []
  /// The maximum number of spectators.
  var limit = RollbackBroadcaster<Game>.clientLimit

  /// Returns whether a peer is a spectator of the match.
  func contains(_ peer: Peer) -> Bool { spectators.contains(peer) }

  /// Adds a spectator, who begins with the last state that `rollback` has confirmed. Returns false
  /// if there is no room.
  mutating func add(_ peer: Peer, of rollback: Rollback<Game>) -> Bool {
    guard !contains(peer) else { return true }
    guard spectators.count(where: { $0 != nil }) < limit,
      let state = rollback.state(at: rollback.confirmedTick)
    else { return false }
    record(rollback)
    let number =
      broadcaster?.addClient() ?? begin(state, rollback.playerCount, at: rollback.confirmedTick)
    while spectators.count <= number {
      spectators.append(nil)
      isSeatDue.append(false)
    }
    spectators[number] = peer
    isSeatDue[number] = true
    return true
  }

  private mutating func begin(_ game: Game, _ players: Int, at tick: Tick) -> Int {
    var broadcaster = RollbackBroadcaster(game, players: players, at: tick)
    defer { self.broadcaster = broadcaster }
    return broadcaster.addClient()
  }

  /// Removes a spectator. Ignores other peers.
  mutating func remove(_ peer: Peer) {
    guard let number = spectators.firstIndex(of: peer) else { return }
    spectators[number] = nil
    broadcaster?.removeClient(number)
    guard spectators.allSatisfy({ $0 == nil }) else { return }
    (broadcaster, spectators, isSeatDue) = (nil, [], [])
  }

  /// Removes the spectators that are not among the connected peers.
  mutating func retain(_ connected: Set<ConnectionID>) {
    for case let peer? in spectators where !connected.contains(peer.connectionID) { remove(peer) }
  }

  /// Broadcasts the ticks that `rollback` has confirmed since the previous call.
  mutating func record(_ rollback: Rollback<Game>) { broadcaster?.record(rollback) }

  /// Processes a message from a spectator. Throws an error, and changes nothing, if it is invalid.
  mutating func receive(_ packet: RollbackPacket, from peer: Peer) throws(DecodeError) {
    guard let number = spectators.firstIndex(of: peer) else { return }
    try broadcaster?.receive(packet.message, packet.bytes.span, from: number)
  }

  /// Appends the next message to `writer`, and returns its kind and the receiving spectator.
  /// Returns nil if nothing is due before the next tick. `rate` is the number of ticks per second.
  mutating func pollTransmit(
    rate: Int, into writer: inout PacketWriter
  ) -> (spectator: Peer, message: RollbackMessage)? {
    if let number = isSeatDue.firstIndex(of: true) {
      isSeatDue[number] = false
      RollbackSeat(player: nil, rate: rate).encode(into: &writer)
      if let peer = spectators[number] { return (peer, .seat) }
      writer.removeAll()
    }
    while let (number, message) = broadcaster?.pollTransmit(into: &writer) {
      if let peer = spectators[number] { return (peer, message) }
      writer.removeAll()
    }
    return nil
  }
}
