import CaromCore

struct StreamState: Sendable {
  enum Piece: Sendable {
    case connected, accepted, end, reset
    case bytes([UInt8])

    var count: Int { if case .bytes(let bytes) = self { bytes.count } else { 0 } }
  }

  /// One direction of one stream.
  struct Way: Sendable {
    let stream: Int
    let side: VirtualStream.Side
  }

  /// What goes toward one end.
  struct Direction: Sendable {
    /// What the link does not take yet, in order.
    var unsent = Deque<Piece>()
    var unsentBytes = 0
    /// A release is in the timeline.
    var isReleasing = false
    /// The writer wants to know when nothing is unsent any more.
    var wantsDrained = false
    /// On the link, in order; each has one arrival in the timeline or is counted in `waiting`.
    var pieces = Deque<Piece>()
    /// Pieces whose time came while the way was cut.
    var waiting = 0
    /// The way is in `heldStreams`: something goes on when the cut is over.
    var isHeld = false
    /// No piece arrives before the one in front of it.
    var lastDue = Instant.zero
    /// The sender finished.
    var isFinished = false
    /// The receiver closed: bytes are answered with a reset.
    var isUnwanted = false
    /// Nothing more is delivered.
    var isDead = false
  }

  /// How often the sources on both sides had changed.
  struct Epochs: Equatable, Sendable {
    var caller = NATMapping.Epoch()
    var listener = NATMapping.Epoch()
  }

  let caller: VirtualHost.ID
  var listener: VirtualHost.ID?
  /// The caller's end as the listener sees it.
  let source: Endpoint
  let destination: Endpoint
  let machines: (caller: Int, listener: Int)
  /// The numbers of the two links, -1 where no machine has the address.
  let links: (toCaller: Int, toListener: Int)
  /// The caller's card, and the listener's, by index.
  let interface: UInt32
  /// What the translators on both sides were at when the stream began.
  let epochs: Epochs
  var isOpen = false
  /// A translator has forgotten it: nothing arrives any more.
  var isBroken = false
  var toCaller = Direction()
  var toListener = Direction()

  subscript(toward side: VirtualStream.Side) -> Direction {
    get { side == .caller ? toCaller : toListener }
    _modify { if side == .caller { yield &toCaller } else { yield &toListener } }
  }

  func machine(_ side: VirtualStream.Side) -> Int {
    side == .caller ? machines.caller : machines.listener
  }

  func link(toward side: VirtualStream.Side) -> Int {
    side == .caller ? links.toCaller : links.toListener
  }

  func end(_ number: Int, _ side: VirtualStream.Side) -> VirtualStream? {
    let host = side == .caller ? caller : listener
    return host.map { VirtualStream(host: $0, number: number, side: side) }
  }
}
