import CaromCore

struct StreamState: Sendable {
  enum Piece: Sendable {
    case connected, accepted, end, reset
    case bytes([UInt8])
  }

  /// What goes toward one end.
  struct Direction: Sendable {
    /// In order; each has one arrival in the timeline or is counted in `waiting`.
    var pieces = Line<Piece>()
    /// Pieces whose time came while the way was cut.
    var waiting = 0
    /// No piece arrives before the one in front of it.
    var lastDue = Instant.zero
    /// The sender finished.
    var isFinished = false
    /// The receiver closed: bytes are answered with a reset.
    var isUnwanted = false
    /// Nothing more is delivered.
    var isDead = false
  }

  let caller: VirtualHost.ID
  var listener: VirtualHost.ID?
  let source: Endpoint
  let destination: Endpoint
  let machines: (caller: Int, listener: Int)
  var isOpen = false
  var toCaller = Direction()
  var toListener = Direction()

  subscript(toward side: VirtualStream.Side) -> Direction {
    get { side == .caller ? toCaller : toListener }
    _modify { if side == .caller { yield &toCaller } else { yield &toListener } }
  }

  func machine(_ side: VirtualStream.Side) -> Int {
    side == .caller ? machines.caller : machines.listener
  }

  func end(_ number: Int, _ side: VirtualStream.Side) -> VirtualStream? {
    let host = side == .caller ? caller : listener
    return host.map { VirtualStream(host: $0, number: number, side: side) }
  }
}
