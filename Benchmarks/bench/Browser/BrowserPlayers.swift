import Carom
import Dispatch

/// Players in browsers, all on one thread.
actor BrowserPlayers: TurnPlayers {
  private let isEncrypted: Bool
  private let usesChannels: Bool
  private var sockets: [BrowserSocket] = []
  private let input = [UInt8](repeating: 0, count: BrowserRun.inputLength)

  /// Creates players who join over TLS if `isEncrypted` is true, and open data channels if
  /// `usesChannels` is.
  init(isEncrypted: Bool, usesChannels: Bool = false) {
    self.isEncrypted = isEncrypted
    self.usesChannels = usesChannels
  }

  func join(port: UInt16) throws {
    for number in 1...BrowserRun.players {
      let socket = try BrowserSocket(port: port, number: number, isEncrypted: isEncrypted)
      try socket.join(port: port)
      sockets.append(socket)
      guard usesChannels else { continue }
      let asking = try BrowserSocket(port: port, number: number, isEncrypted: isEncrypted)
      let offer = try asking.askForChannel(port: port)
      try socket.use(BrowserChannel(port: port, number: number, offer))
    }
  }

  /// Opens connections to the host's port that say no more than the beginning of a request.
  func openDoors(port: UInt16) throws {
    for number in 1...BrowserRun.players {
      let socket = try BrowserSocket(port: port, number: number, isEncrypted: isEncrypted)
      try socket.write(Array("GET / HTTP/1.1\r\nHost: 127".utf8))
      sockets.append(socket)
    }
  }

  func sendInputs(_ isHeld: DispatchSemaphore, _ mayContinue: DispatchSemaphore) throws {
    isHeld.wait()
    defer { mayContinue.signal() }
    for socket in sockets { try socket.sendInput(input) }
  }

  func awaitStates() throws {
    for socket in sockets { try socket.awaitState() }
  }

  /// The bytes that the sockets have carried.
  var bytes: UInt64 { sockets.reduce(0) { $0 + $1.bytes } }

  func leave() { sockets = [] }
}
