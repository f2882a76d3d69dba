import Carom
import SessionPeers

/// Many players over datagrams, as protocol machines without nodes behind one socket. One core is
/// enough for a thousand players in this form, so the server limits the measurement.
@safe struct SessionCaromCrowd {
  private let crowd: OpaquePointer
  private let server: Route
  private let count = SessionCarom.number("peers", 100)
  private let ticks = SessionCarom.number("ticks", 300)
  private let hertz = SessionCarom.number("hertz", Int(SIDE_HERTZ))
  private var players: [(lobby: Lobby, connection: ConnectionID)] = []
  /// The time of each player's next timer, in nanoseconds.
  private var timeouts: [Int64] = []
  private var nextTimerCheck: UInt64 = 0
  private var opened = 0
  /// The reason why a player lost its connection or was refused.
  private var failure: DisconnectReason?
  private var arrived = 0
  private var latest: UInt64 = 0
  private var buffer: [UInt8] = []
  private static let groupSize = 100
  /// The largest number of connection attempts at one time; a server answers this many unvalidated
  /// addresses at once.
  private static let connectingLimit = 32
  private static let timerCheckInterval: UInt64 = 1_000_000

  init() throws {
    let endpoint = try SessionCarom.server()
    guard let crowd = unsafe side_crowd_open(endpoint.port) else {
      throw BenchmarkFailure(
        "cannot open a UDP socket for the players: raise the descriptor limit with ulimit -n")
    }
    unsafe self.crowd = unsafe crowd
    server = Route(endpoint)
  }

  mutating func run() throws {
    while opened < count {
      if let failure {
        throw BenchmarkFailure(
          "the server refused or lost a player: \(failure); run again with fewer, as in --peers 100"
        )
      }
      if players.count < min(count, opened + Self.connectingLimit) { connect() }
      run(until: side_now() + Self.timerCheckInterval)
    }
    SessionOutput.status("ready")
    let (begin, slots) = (side_now(), (count + Self.groupSize - 1) / Self.groupSize)
    // The players send for a second longer than the server.
    for slot in 0..<(ticks + hertz) * slots {
      let time = begin + UInt64(slot) * 1_000_000_000 / UInt64(hertz * slots)
      repeat { run(until: time) } while side_now() < time
      sendInputs(of: slot % slots)
    }
    while side_now() < latest + 300_000_000 { run(until: side_now() + Self.timerCheckInterval) }
    SessionOutput.figure("arrived", Double(arrived))
  }

  private mutating func connect() {
    let number = players.count + 1
    var generator = SystemRandomNumberGenerator()
    let host = Host(
      SessionCarom.peer(number), seats: 0, secret: HostSecret(using: &generator),
      security: SessionCarom.cipher.map { SessionCarom.security(number, cipher: $0) })
    var lobby = Lobby(host)
    let connection = lobby.makeConnectionID()
    let key = ConnectionKey(using: &generator)
    _ = lobby.connect(connection, to: [server], key: key, at: now)
    players.append((lobby, connection))
    timeouts.append(.max)
    drain(players.count - 1)
  }

  private var now: Instant { Instant(nanoseconds: Int64(side_now())) }

  /// Sends the inputs of a group of one hundred players.
  private mutating func sendInputs(of slot: Int) {
    let input = [UInt8](repeating: 0, count: Int(SIDE_INPUT))
    let first = slot * Self.groupSize
    for player in first..<min(first + Self.groupSize, count) {
      let connection = players[player].connection
      _ = try? players[player].lobby.host.send(
        input.span, on: 3, SendOptions(.unreliable), to: connection, at: now)
      drain(player)
    }
    unsafe side_crowd_flush(crowd)
  }

  /// Receives datagrams until `time`, waiting if there are none, and handles the timers that are
  /// due.
  private mutating func run(until time: UInt64) {
    let batch = unsafe side_crowd_receive(crowd, min(time, nextTimerCheck))
    for index in 0..<batch { receive(index) }
    if side_now() >= nextTimerCheck { handleDueTimers() }
    unsafe side_crowd_flush(crowd)
  }

  private mutating func receive(_ index: Int32) {
    let player = Int(unsafe side_crowd_player(crowd, index))
    guard player < players.count else { return }
    let bytes = unsafe Span(
      _unsafeStart: side_crowd_bytes(crowd, index), count: side_crowd_count(crowd, index))
    players[player].lobby.receiveDatagram(bytes, from: server, at: now)
    drain(player)
  }

  private mutating func handleDueTimers() {
    nextTimerCheck = side_now() + Self.timerCheckInterval
    let time = now
    for player in timeouts.indices where timeouts[player] <= time.nanoseconds {
      players[player].lobby.handleTimeout(at: time)
      drain(player)
    }
  }

  /// Handles all events of a player's machine and sends all of its datagrams.
  private mutating func drain(_ player: Int) {
    let time = now
    while let event = players[player].lobby.pollEvent() {
      switch event {
      case .host(.connection(_, .opened)): opened += 1
      case .host(.closed(_, _, let reason, _)): failure = reason
      case .host(.connection(let connection, .messages)):
        while players[player].lobby.host.pollMessage(on: connection, { _, _ in }) { arrived += 1 }
        latest = side_now()
      default: break
      }
    }
    while let connection = players[player].lobby.host.pollReady() {
      while true {
        buffer.removeAll(keepingCapacity: true)
        guard
          players[player].lobby.host.pollDatagram(on: connection, into: &buffer, at: time) != nil
        else { break }
        unsafe buffer.withUnsafeBufferPointer { bytes in
          unsafe side_crowd_send(crowd, UInt32(player), bytes.baseAddress!, bytes.count)
        }
      }
      players[player].lobby.didFlush(connection, at: time)
    }
    timeouts[player] = players[player].lobby.findTimeout()?.nanoseconds ?? .max
  }
}
