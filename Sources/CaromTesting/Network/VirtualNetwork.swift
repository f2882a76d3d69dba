import CaromCore

/// A network in memory, with a time of its own, where everything follows from one seed.
///
/// Hosts bind sockets, join groups, listen and connect; what they send comes out of `nextEvent` at
/// its time, late, lost, doubled or cut into pieces as `LinkConditions` say. The network is a
/// value: a copy of it goes on from the same point, and the same calls on it give the same events.
public struct VirtualNetwork: Sendable {
  /// What is on its way.
  enum Arrival: Sendable {
    case datagram(Datagram, link: Int)
    case delivery(Datagram, to: VirtualSocket)
    case call(stream: Int, attempt: Int)
    case refusal(stream: Int)
    case breakage(stream: Int)
    case piece(stream: Int, toward: VirtualStream.Side)
    case release(stream: Int, toward: VirtualStream.Side)
    case drained(VirtualStream)
  }

  /// From one machine to another.
  struct Way: Hashable, Sendable {
    let from: Int
    let to: Int
  }

  /// The time now: that of the last event, or what `advance(to:)` set.
  public private(set) var now = Instant.zero
  /// What every link does that has no conditions of its own.
  public var conditions: LinkConditions { didSet { changeConditions() } }
  /// Every host, by id.
  public private(set) var hosts: [VirtualHost] = []
  /// What became of everything that was sent.
  public internal(set) var counters = NetworkCounters()
  /// The story so far; `nil`, as at the beginning, writes none.
  public var trace: Trace?
  /// Whether links of limited rate keep a `queueHistory`; set before they are used.
  public var recordsQueues = false

  let seed: UInt64
  var sharedConditions: SharedConditions
  var timeline = DeadlineQueue<Arrival>()
  var generator: SeededGenerator
  var machines: [Machine] = []
  var sockets: [SocketState] = []
  var members: [SocketState.Group: [SocketState.Member]] = [:]
  var streams: [StreamState] = []
  var heldStreams: [StreamState.Way] = []
  var links: [LinkSimulator] = []
  var linkNumbers: [Way: Int] = [:]

  /// An empty network; every draw follows from `seed`.
  public init(seed: UInt64, conditions: LinkConditions = .lan) {
    conditions.check()
    self.seed = seed
    generator = SeededGenerator(seed: seed)
    self.conditions = conditions
    sharedConditions = SharedConditions(conditions)
  }

  // MARK: Hosts

  /// A new machine with a network card on each of the segments, and one process on it.
  public mutating func addHost(on segments: [Int] = [0]) -> VirtualHost {
    precondition(!segments.isEmpty, "a host needs a segment to be on")
    let number = UInt64(machines.count + 1)
    precondition(number < 1 << 16, "addresses end at 65,535 machines")
    let interfaces = segments.enumerated().map { position, segment in
      precondition((0..<256).contains(segment), "a segment is 0 to 255")
      let index = UInt32(position + 2)
      return VirtualHost.Interface(
        index: index, segment: segment,
        v4: .v4(10 << 24 | UInt32(segment) << 16 | UInt32(number)),
        v6: .v6(high: 0xFE80 << 48, low: UInt64(segment) << 32 | number, scope: index))
    }
    machines.append(Machine(interfaces: interfaces))
    return addHost(machine: machines.count - 1)
  }

  /// One more process on a machine that is there: the same addresses, sockets of its own.
  public mutating func addHost(beside other: VirtualHost) -> VirtualHost {
    addHost(machine: other.machine)
  }

  private mutating func addHost(machine: Int) -> VirtualHost {
    let host = VirtualHost(
      id: .init(number: hosts.count), machine: machine, interfaces: machines[machine].interfaces)
    hosts.append(host)
    return host
  }

  /// The host of that id.
  public subscript(id: VirtualHost.ID) -> VirtualHost { hosts[id.number] }

  func machine(of host: VirtualHost.ID) -> Int { hosts[host.number].machine }

  // MARK: Time

  /// No event comes before it; `nil` when nothing is on its way.
  public var nextEventTime: Instant? { timeline.nextDeadline }

  /// The next event up to and including `limit`, and time moves to it; with none, `nil`, and time
  /// stays where the last arrival left it.
  public mutating func nextEvent(notAfter limit: Instant = .distantFuture) -> VirtualEvent? {
    while let time = timeline.nextDeadline, let arrival = timeline.popFirst(until: limit) {
      now = max(now, time)
      if let event = arrive(arrival) { return event }
    }
    return nil
  }

  /// Moves time on; everything before `time` has to be fetched with `nextEvent` first.
  public mutating func advance(to time: Instant) {
    precondition(time >= now, "time goes forward")
    precondition(nextEventTime.map { $0 >= time } ?? true, "events before that time are waiting")
    now = time
  }

  private mutating func arrive(_ arrival: Arrival) -> VirtualEvent? {
    if case .datagram(let datagram, let link) = arrival {
      return arriveDatagram(datagram, over: link)
    }
    guard let event = arriveElse(arrival) else { return nil }
    record(event)
    return event
  }

  private mutating func arriveElse(_ arrival: Arrival) -> VirtualEvent? {
    switch arrival {
    case .datagram: return nil
    case .delivery(let datagram, let socket): return deliver(datagram, to: socket)
    case .call(let stream, let attempt): return arriveCall(stream, attempt: attempt)
    case .refusal(let stream): return arriveRefusal(stream)
    case .breakage(let stream): return arriveBreakage(stream)
    case .piece(let stream, let side): return arrivePiece(stream, toward: side)
    case .release(let stream, let side):
      streams[stream][toward: side].isReleasing = false
      release(stream, toward: side)
      return nil
    case .drained(let stream): return arriveDrained(stream)
    }
  }
}
