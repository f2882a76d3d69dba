import ArgumentParser
import Carom
import SessionPeers

/// The players over datagrams: machines alone, all behind one socket, so that a core is enough for
/// a thousand of them and what is measured is the server.
@safe struct SessionCaromCrowd {
  private let crowd: OpaquePointer
  private let server: Route
  private let count = SessionCarom.number("peers", 100)
  private let ticks = SessionCarom.number("ticks", 300)
  private let hertz = SessionCarom.number("hertz", Int(SIDE_HERTZ))
  private var players: [(lobby: Lobby, link: ConnectionID)] = []
  /// When they want to be called, nanoseconds.
  private var dues: [Int64] = []
  private var nextLook: UInt64 = 0
  private var opened = 0
  /// Why a player lost its place, or never got one.
  private var loss: DisconnectReason?
  private var arrived = 0
  private var latest: UInt64 = 0
  private var buffer: [UInt8] = []
  private static let together = 100
  /// Those that may be on their way in at a time: a server answers so many strangers at once.
  private static let callers = 32
  private static let lookInterval: UInt64 = 1_000_000

  init() throws {
    let endpoint = try SessionCarom.server()
    guard let crowd = unsafe side_crowd_open(endpoint.port) else {
      throw ValidationError("no socket for the players")
    }
    unsafe self.crowd = unsafe crowd
    server = Route(endpoint)
  }

  mutating func run() throws {
    while opened < count {
      if let loss { throw ValidationError("the server turned a player away: \(loss)") }
      if players.count < min(count, opened + Self.callers) { call() }
      turn(until: side_now() + Self.lookInterval)
    }
    SessionTell.say("ready")
    let (begin, slots) = (side_now(), (count + Self.together - 1) / Self.together)
    // Past the server's last tick by a second.
    for slot in 0..<(ticks + hertz) * slots {
      let time = begin + UInt64(slot) * 1_000_000_000 / UInt64(hertz * slots)
      repeat { turn(until: time) } while side_now() < time
      sendInputs(of: slot % slots)
    }
    while side_now() < latest + 300_000_000 { turn(until: side_now() + Self.lookInterval) }
    SessionTell.figure("arrived", Double(arrived))
  }

  private mutating func call() {
    let number = players.count + 1
    var generator = SystemRandomNumberGenerator()
    var lobby = Lobby(
      SessionCarom.peer(number), seats: 0, secret: HostSecret(using: &generator))
    let link = lobby.makeConnectionID()
    let key = ConnectionKey(using: &generator)
    _ = lobby.connect(link, to: [server], key: key, at: now)
    players.append((lobby, link))
    dues.append(.max)
    settle(players.count - 1)
  }

  private var now: Instant { Instant(nanoseconds: Int64(side_now())) }

  /// One hundred of them.
  private mutating func sendInputs(of slot: Int) {
    let input = [UInt8](repeating: 0, count: Int(SIDE_INPUT))
    let first = slot * Self.together
    for player in first..<min(first + Self.together, count) {
      let link = players[player].link
      _ = try? players[player].lobby.send(
        input.span, on: 3, SendOptions(.unreliable), to: link, at: now)
      settle(player)
    }
    unsafe side_crowd_flush(crowd)
  }

  /// Takes what has come, waiting for it until `time`, and does what is due.
  private mutating func turn(until time: UInt64) {
    let batch = unsafe side_crowd_receive(crowd, min(time, nextLook))
    for index in 0..<batch { receive(index) }
    if side_now() >= nextLook { look() }
    unsafe side_crowd_flush(crowd)
  }

  private mutating func receive(_ index: Int32) {
    let player = Int(unsafe side_crowd_player(crowd, index))
    guard player < players.count else { return }
    let bytes = unsafe Span(
      _unsafeStart: side_crowd_bytes(crowd, index), count: side_crowd_count(crowd, index))
    players[player].lobby.receiveDatagram(bytes, from: server, at: now)
    settle(player)
  }

  private mutating func look() {
    nextLook = side_now() + Self.lookInterval
    let time = now
    for player in dues.indices where dues[player] <= time.nanoseconds {
      players[player].lobby.handleTimeout(at: time)
      settle(player)
    }
  }

  /// Polls a player to dry.
  private mutating func settle(_ player: Int) {
    let time = now
    while let event = players[player].lobby.pollEvent() {
      switch event {
      case .host(.connection(_, .opened)): opened += 1
      case .host(.closed(_, _, let reason, _)): loss = reason
      case .host(.connection(let link, .messages)):
        while players[player].lobby.pollMessage(on: link, { _, _ in }) { arrived += 1 }
        latest = side_now()
      default: break
      }
    }
    while let link = players[player].lobby.pollReady() {
      while true {
        buffer.removeAll(keepingCapacity: true)
        guard players[player].lobby.pollDatagram(on: link, into: &buffer, at: time) != nil
        else { break }
        unsafe buffer.withUnsafeBufferPointer { bytes in
          unsafe side_crowd_send(crowd, UInt32(player), bytes.baseAddress!, bytes.count)
        }
      }
      players[player].lobby.didFlush(link, at: time)
    }
    dues[player] = players[player].lobby.findTimeout()?.nanoseconds ?? .max
  }
}
