import CaromCore

/// The state of a byte stream between two hosts.
struct StreamState: Sendable {
  /// A unit of delivery in a stream: bytes, or a TCP signal.
  enum Chunk: Sendable {
    case connected, accepted, end, reset
    case bytes([UInt8])

    var count: Int { if case .bytes(let bytes) = self { bytes.count } else { 0 } }
  }

  /// Identifies one direction of one stream.
  struct DirectionKey: Sendable {
    let stream: Int
    /// The side that receives in this direction.
    let side: VirtualStream.Side
  }

  /// The state of one direction of a stream.
  struct Direction: Sendable {
    /// The chunks that wait at the sender to be sent over the link, in order.
    var unsent = Deque<Chunk>()
    /// The total length of the unsent chunks, in bytes. The network does not limit it.
    var unsentBytes = 0
    /// Whether a `.release` event is scheduled.
    var isReleasing = false
    /// Whether the writer has asked for a `.drained` event.
    var wantsDrained = false
    /// The chunks on the link, in order. Each has a scheduled arrival or is counted in `held`.
    var inFlight = Deque<Chunk>()
    /// The number of chunks that would have arrived while the link was cut.
    var held = 0
    /// Whether `heldStreams` contains this direction, so that it is resumed after a cut.
    var isHeld = false
    /// The latest scheduled arrival. Later chunks do not arrive before it.
    var lastArrival = Instant.zero
    /// Whether the sender has finished writing.
    var isFinished = false
    /// Whether the receiver has closed its end, so that further bytes are answered with a reset.
    var isUnwanted = false
    /// Whether delivery in this direction has ended.
    var isDead = false
  }

  /// The epochs of the NAT mappings at both ends of a stream.
  struct Epochs: Equatable, Sendable {
    var client = NATMapping.Epoch()
    var listener = NATMapping.Epoch()
  }

  let client: VirtualHost.ID
  var listener: VirtualHost.ID?
  /// The client's endpoint as the listener sees it.
  let source: Endpoint
  let destination: Endpoint
  let machines: (client: Int, listener: Int)
  /// The number of the link in each direction. Both are -1 if no machine has the destination
  /// address.
  let links: (toClient: Int, toListener: Int)
  /// The index of the listener's interface.
  let interface: UInt32
  /// The NAT epochs at the time when the stream was opened.
  let epochs: Epochs
  var isOpen = false
  /// Whether a NAT has forgotten the stream, which ends all delivery.
  var isBroken = false
  var toClient = Direction()
  var toListener = Direction()

  subscript(toward side: VirtualStream.Side) -> Direction {
    get { side == .client ? toClient : toListener }
    _modify { if side == .client { yield &toClient } else { yield &toListener } }
  }

  func machine(_ side: VirtualStream.Side) -> Int {
    side == .client ? machines.client : machines.listener
  }

  func link(toward side: VirtualStream.Side) -> Int {
    side == .client ? links.toClient : links.toListener
  }

  func end(_ number: Int, _ side: VirtualStream.Side) -> VirtualStream? {
    let host = side == .client ? client : listener
    return host.map { VirtualStream(host: $0, number: number, side: side) }
  }
}
