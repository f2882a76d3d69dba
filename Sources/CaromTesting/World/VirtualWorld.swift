import CaromCore

/// A `VirtualNetwork` and a node on each of its hosts, run to a time or a condition.
public struct VirtualWorld<Node: VirtualNode> {
  /// The most steps that one `run` takes unless told otherwise.
  public static var defaultStepLimit: Int { 1_000_000 }

  /// The network; faults are injected here between runs.
  public var network: VirtualNetwork
  /// The nodes, by their host's id; `nil` where one was stopped.
  public private(set) var nodes: [Node?] = []
  /// Events and timeouts handled so far.
  public private(set) var steps = 0
  /// Each node's `nextTimeout`, read after each time that the node was touched.
  private var deadlines = DeadlineTree()

  /// A world without nodes.
  public init(network: VirtualNetwork) { self.network = network }

  /// A world without nodes on an empty network.
  public init(seed: UInt64, conditions: LinkConditions = .lan) {
    self.init(network: VirtualNetwork(seed: seed, conditions: conditions))
  }

  /// Adds a host, makes its node and starts it.
  @discardableResult
  public mutating func add(
    on segments: [Int] = [0], _ make: (VirtualHost) throws -> Node
  ) rethrows -> VirtualHost {
    let host = network.addHost(on: segments)
    let node = try make(host)
    start(node, on: host)
    return host
  }

  /// Adds a process to another host's machine, makes its node and starts it.
  @discardableResult
  public mutating func add(
    beside other: VirtualHost, _ make: (VirtualHost) throws -> Node
  ) rethrows -> VirtualHost {
    let host = network.addHost(beside: other)
    let node = try make(host)
    start(node, on: host)
    return host
  }

  /// Starts a node on a host that has none: one that was added by hand, or was stopped.
  public mutating func start(_ node: Node, on host: VirtualHost) {
    while nodes.count <= host.id.number { nodes.append(nil) }
    precondition(nodes[host.id.number] == nil, "a host runs one node at a time")
    nodes[host.id.number] = node
    nodes[host.id.number]?.start(in: &network)
    noteDeadline(of: host.id.number)
  }

  private mutating func noteDeadline(of index: Int) {
    deadlines.set(nodes[index]?.nextTimeout, at: index)
  }

  /// Takes the node away without a word; what its host does to its streams is the network's
  /// `kill` or `crash`.
  @discardableResult
  public mutating func stop(_ host: VirtualHost) -> Node? {
    guard nodes.indices.contains(host.id.number) else { return nil }
    defer {
      nodes[host.id.number] = nil
      noteDeadline(of: host.id.number)
    }
    return nodes[host.id.number]
  }

  /// The node of a host.
  public subscript(host: VirtualHost) -> Node? {
    nodes.indices.contains(host.id.number) ? nodes[host.id.number] : nil
  }

  /// Lets a node act on its own, outside an event.
  public mutating func withNode<Result>(
    of host: VirtualHost, _ body: (inout Node, inout VirtualNetwork) throws -> Result
  ) rethrows -> Result? {
    guard nodes.indices.contains(host.id.number), var node = nodes[host.id.number] else {
      return nil
    }
    nodes[host.id.number] = nil  // so that the node has one owner while it changes
    defer {
      nodes[host.id.number] = node
      noteDeadline(of: host.id.number)
    }
    return try body(&node, &network)
  }

  /// Runs to `end`, or until `isDone` says so after a step; true if it did.
  ///
  /// Events come before timeouts of the same instant, and timeouts in the order of the hosts.
  @discardableResult
  public mutating func run(
    until end: Instant, stepLimit: Int = defaultStepLimit,
    isDone: (borrowing VirtualWorld) -> Bool = { _ in false }
  ) throws(StepLimitExceeded) -> Bool {
    var left = stepLimit
    while let next = nextTime, next <= end {
      guard left > 0 else { throw StepLimitExceeded(limit: stepLimit, at: network.now) }
      left -= 1
      step(at: next)
      if isDone(self) { return true }
    }
    if network.now < end { network.advance(to: end) }
    return false
  }

  /// Runs for that long.
  @discardableResult
  public mutating func run(
    for duration: Duration, stepLimit: Int = defaultStepLimit,
    isDone: (borrowing VirtualWorld) -> Bool = { _ in false }
  ) throws(StepLimitExceeded) -> Bool {
    try run(until: network.now + duration, stepLimit: stepLimit, isDone: isDone)
  }

  /// When something happens next.
  private var nextTime: Instant? {
    earliest(network.nextEventTime, deadlines.first).map { max($0, network.now) }
  }

  /// The network's next event, or else every timeout that is due.
  private mutating func step(at time: Instant) {
    steps += 1
    if let event = network.nextEvent(notAfter: time) {
      let index = event.host.number
      guard nodes.indices.contains(index) else { return }
      nodes[index]?.handle(event, in: &network)
      noteDeadline(of: index)
      return
    }
    network.advance(to: time)
    var start = 0
    while let index = deadlines.place(from: start, dueAt: time) {
      nodes[index]?.handleTimeout(in: &network)
      noteDeadline(of: index)
      start = index + 1
    }
  }
}
