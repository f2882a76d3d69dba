import CaromCore

/// A simulated network in virtual time. All random behavior is determined by one seed.
///
/// Hosts bind sockets, join multicast groups, listen and connect. `nextEvent` returns the data that
/// they send, after the delays, losses, duplications and fragmentation that `LinkConditions`
/// specify. The network is a value: a copy continues from the same state, and the same calls on it
/// give the same events.
public struct VirtualNetwork: Sendable {
  /// An event that is scheduled inside the network.
  enum Arrival: Sendable {
    /// A datagram arrives at the receiving end of a link.
    case datagram(Datagram, link: Int)
    /// A datagram is delivered to a socket without passing a link.
    case delivery(Datagram, to: VirtualSocket)
    /// A connection request arrives at the listener.
    case connect(stream: Int, attempt: Int)
    /// The refusal of a connection request arrives at the client.
    case refusal(stream: Int)
    /// The reset of a stream that a NAT has forgotten arrives at the client.
    case breakage(stream: Int)
    /// A chunk of a stream arrives.
    case chunk(stream: Int, toward: VirtualStream.Side)
    /// A stream may send its next chunk.
    case release(stream: Int, toward: VirtualStream.Side)
    /// The `drained` event of a stream is due.
    case drained(VirtualStream)
  }

  /// The key of a link: the numbers of its two machines.
  struct LinkKey: Hashable, Sendable {
    let from: Int
    let to: Int
  }

  /// The current virtual time: the time of the last event, or the time set by `advance(to:)`.
  public private(set) var now = Instant.zero
  /// The conditions of all links without conditions of their own.
  public var conditions: LinkConditions { didSet { updateConditions() } }
  /// All hosts, ordered by id.
  public private(set) var hosts: [VirtualHost] = []
  /// The statistics of the network.
  public internal(set) var counters = NetworkCounters()
  /// The log of events, or nil for no log. The default is nil.
  public var trace: Trace?
  /// Whether links with a `rate` record a `queueHistory`. Set this before the first use of a link.
  public var recordsQueues = false

  let seed: UInt64
  var sharedConditions: SharedConditions
  var timeline = DeadlineQueue<Arrival>()
  var generator: SeededGenerator
  var machines: [VirtualMachine] = []
  var sockets: [SocketState] = []
  var members: [SocketState.Group: [SocketState.Member]] = [:]
  var streams: [StreamState] = []
  /// The stream directions that wait for the end of a cut.
  var heldStreams: [StreamState.DirectionKey] = []
  var links: [LinkSimulator] = []
  var linkNumbers: [LinkKey: Int] = [:]

  /// Creates a network without hosts. `seed` determines all random behavior.
  public init(seed: UInt64, conditions: LinkConditions = .lan) {
    conditions.check()
    self.seed = seed
    generator = SeededGenerator(seed: seed)
    self.conditions = conditions
    sharedConditions = SharedConditions(conditions)
  }

  // MARK: Hosts

  /// Adds a machine with an interface on each of the given segments, and returns a new host on it.
  public mutating func addHost(on segments: [Int] = [0]) -> VirtualHost {
    precondition(!segments.isEmpty, "a host needs at least one segment")
    let number = UInt64(machines.count + 1)
    precondition(number < 1 << 16, "a network has at most 65,535 machines")
    let interfaces = segments.enumerated().map { position, segment in
      precondition((0..<256).contains(segment), "a segment's number must be 0 to 255")
      let index = UInt32(position + 2)
      return VirtualHost.Interface(
        index: index, segment: segment,
        v4: .v4(10 << 24 | UInt32(segment) << 16 | UInt32(number)),
        v6: .v6(high: 0xFE80 << 48, low: UInt64(segment) << 32 | number, scope: index))
    }
    machines.append(VirtualMachine(interfaces: interfaces))
    return addHost(machine: machines.count - 1)
  }

  /// Adds and returns a host on the same machine as `other`. The two share their addresses, but
  /// each has its own sockets.
  public mutating func addHost(beside other: VirtualHost) -> VirtualHost {
    addHost(machine: other.machine)
  }

  private mutating func addHost(machine: Int) -> VirtualHost {
    let host = VirtualHost(
      id: .init(number: hosts.count), machine: machine, interfaces: machines[machine].interfaces)
    hosts.append(host)
    return host
  }

  /// Returns the host with the given id.
  public subscript(id: VirtualHost.ID) -> VirtualHost { hosts[id.number] }

  func machine(of host: VirtualHost.ID) -> Int { hosts[host.number].machine }

  // MARK: Time

  /// The earliest time at which there can be an event, or nil if no event is scheduled.
  public var nextEventTime: Instant? { timeline.nextDeadline }

  /// Advances the time to the next event at or before `limit`, and returns that event. Returns nil
  /// if there is no such event. In that case `now` may still advance, to the time of an event that
  /// concerns no host.
  public mutating func nextEvent(notAfter limit: Instant = .distantFuture) -> VirtualEvent? {
    while let time = timeline.nextDeadline, let arrival = timeline.popFirst(until: limit) {
      now = max(now, time)
      if let event = handle(arrival) { return event }
    }
    return nil
  }

  /// Advances the time to `time`. First fetch all events before that time with `nextEvent`.
  public mutating func advance(to time: Instant) {
    precondition(time >= now, "time must not go back")
    precondition(
      nextEventTime.map { $0 >= time } ?? true, "fetch the events before that time with nextEvent")
    now = time
  }

  /// Handles a scheduled event. Returns the resulting event for a host, or nil if no event results.
  private mutating func handle(_ arrival: Arrival) -> VirtualEvent? {
    // `handleDatagram` writes its own trace entry, with the link.
    if case .datagram(let datagram, let link) = arrival {
      return handleDatagram(datagram, over: link)
    }
    guard let event = handleOther(arrival) else { return nil }
    record(event)
    return event
  }

  private mutating func handleOther(_ arrival: Arrival) -> VirtualEvent? {
    switch arrival {
    case .datagram: return nil
    case .delivery(let datagram, let socket): return deliver(datagram, to: socket)
    case .connect(let stream, let attempt): return handleConnect(stream, attempt: attempt)
    case .refusal(let stream): return handleRefusal(stream)
    case .breakage(let stream): return handleBreakage(stream)
    case .chunk(let stream, let side): return handleChunk(stream, toward: side)
    case .release(let stream, let side):
      streams[stream][toward: side].isReleasing = false
      sendChunks(of: stream, toward: side)
      return nil
    case .drained(let stream): return handleDrained(stream)
    }
  }
}
