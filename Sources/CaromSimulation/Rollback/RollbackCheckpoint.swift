import CaromCore

/// What another server needs to go on with a match: the confirmed state, its tick, and which peer
/// plays which player.
///
/// Inputs that a client has sent for later ticks are not a part of it: the client sends those of
/// the other server's ticks again. Whatever the game sends its players beside the match, and has to
/// deliver once, belongs into the state with a number of its own.
///
/// Layout: tick u64, ticks per second u16, number of players u8; for each player one byte, 1 if a
/// peer has controlled it and 0 otherwise, and after a 1 the peer's id (16 bytes, big-endian); the
/// state's hash u64, then the `PacketCodable` encoding of the state to the end.
public struct RollbackCheckpoint<Game: Simulation & PacketCodable>: Sendable {
  /// The tick of the state. The step of this tick has not been simulated yet.
  public let tick: Tick
  /// The number of ticks per second.
  public let rate: Int
  /// The last peer that controlled each player, indexed by player; nil for a player that none has.
  public let peers: [PeerID?]
  /// The state before the step of `tick`.
  public let state: Game

  /// Creates the checkpoint of the state before the step of `tick`. `peers` has one element for
  /// each player.
  public init(tick: Tick, rate: Int, peers: [PeerID?], state: Game) {
    precondition((1...Int(UInt16.max)).contains(rate), "the rate must be 1 to 65,535 per second")
    precondition(
      Game.playerCounts.contains(peers.count), "the simulation does not support this many players")
    self.tick = tick
    self.rate = rate
    self.peers = peers
    self.state = state
  }
}

extension RollbackCheckpoint: PacketCodable {
  /// Appends the checkpoint in the layout documented at `RollbackCheckpoint`.
  public func encode(into writer: inout PacketWriter) {
    writer.write(tick.rawValue)
    writer.write(UInt16(rate))
    writer.append(UInt8(peers.count))
    for peer in peers {
      writer.append(peer == nil ? 0 : 1)
      guard let peer else { continue }
      writer.writeBigEndian(peer.high)
      writer.writeBigEndian(peer.low)
    }
    writer.write(state.hash)
    state.encode(into: &writer)
  }

  /// Creates a checkpoint by decoding the layout documented at `RollbackCheckpoint`. Throws
  /// `DecodeError.invalid` if no match can have it, or if the state does not have the hash.
  public init(decoding reader: inout PacketReader) throws(DecodeError) {
    tick = Tick(try reader.read(UInt64.self))
    guard tick.rawValue < 1 << 62 else { throw .invalid(what: "tick") }
    rate = Int(try reader.read(UInt16.self))
    guard rate > 0 else { throw .invalid(what: "rate") }
    let count = Int(try reader.read(UInt8.self))
    guard Game.playerCounts.contains(count) else { throw .invalid(what: "players") }
    var peers: [PeerID?] = []
    for _ in 0..<count {
      switch try reader.read(UInt8.self) {
      case 0: peers.append(nil)
      case 1:
        peers.append(PeerID(high: try reader.readBigEndian(), low: try reader.readBigEndian()))
      default: throw .invalid(what: "peer of a player")
      }
    }
    self.peers = peers
    let hash: UInt64 = try reader.read()
    state = try Game(decoding: &reader)
    guard state.hash == hash else { throw .invalid(what: "hash of a checkpoint") }
  }
}

extension RollbackServer {
  /// Creates a server that goes on with a match from a checkpoint. The first tick is due one tick
  /// after `now`.
  public init(resuming checkpoint: RollbackCheckpoint<Game>, at now: Instant) {
    self.init(
      checkpoint.state, players: checkpoint.peers.count, rate: checkpoint.rate, at: now,
      start: checkpoint.tick)
  }
}

extension RollbackHost {
  /// The checkpoint from which another host can go on with the match.
  public var checkpoint: RollbackCheckpoint<Game> {
    RollbackCheckpoint(
      tick: server.tick, rate: server.rate,
      peers: (0..<server.playerCount).map { lastPeer(of: $0) }, state: server.state)
  }
}
