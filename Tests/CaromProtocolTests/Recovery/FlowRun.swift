import CaromCore
import CaromProtocol
import CaromTesting

/// Flows that share one simulated link, and their measurements.
struct FlowRun {
  private(set) var world: VirtualWorld<FlowNode>
  private let near: VirtualHost
  private let far: VirtualHost
  private(set) var senders: [VirtualHost] = []
  private(set) var receivers: [VirtualHost] = []

  init(_ profile: LinkProfile, seed: UInt64 = 1) {
    var network = VirtualNetwork(seed: seed)
    network.recordsQueues = true
    (near, far) = (network.addHost(), network.addHost())
    network.setProfile(profile, from: near, to: far)
    world = VirtualWorld(network: network)
  }

  init(_ conditions: LinkConditions, seed: UInt64 = 1) {
    self.init(LinkProfile("", conditions), seed: seed)
  }

  /// A link of 20 Mbit/s, 50 ms each way, with a queue of 250 kB. `slower` divides rate and queue.
  static func line(loss: Double = 0, slower: Int = 1) -> LinkConditions {
    LinkConditions(oneWay: .milliseconds(50), rate: 2_500_000 / slower, loss: loss).with {
      $0.queue = .bytes(250_000 / slower)
    }
  }

  mutating func addFlow(bulk: Bool = true, game: Bool = false, maximumPayload: Int = 1_472) {
    let (sender, socket, destination) = addReceiver()
    let flow = FlowSender(
      socket, to: destination, bulk: bulk, game: game, maximumPayload: maximumPayload,
      at: world.network.now)
    world.start(.sender(flow), on: sender)
  }

  mutating func addCubic() {
    let (sender, socket, destination) = addReceiver()
    let flow = CubicSender(socket, to: destination, at: world.network.now)
    world.start(.cubic(flow), on: sender)
  }

  private mutating func addReceiver() -> (VirtualHost, VirtualSocket, Endpoint) {
    let port = UInt16(1_000 + receivers.count)
    let receiver = world.network.addHost(beside: far)
    let inbox = world.network.bind(receiver, port: port)
    world.start(.receiver(FlowReceiver(inbox)), on: receiver)
    let sender = world.network.addHost(beside: near)
    senders.append(sender)
    receivers.append(receiver)
    return (sender, world.network.bind(sender), Endpoint(far.v4, port: port))
  }

  mutating func run(to seconds: Double) {
    let end = Instant(nanoseconds: Int64(seconds * 1e9))
    _ = try? world.run(until: end, stepLimit: 100_000_000)
  }

  mutating func change(_ conditions: LinkConditions) {
    world.network.setConditions(conditions, from: near, to: far)
  }

  func sender(_ index: Int = 0) -> FlowSender { world[senders[index]]!.sender! }
  func flow(_ index: Int = 0) -> DatagramFlow { sender(index).flow }

  /// How many new bytes of the stream arrived per second between `start` and `end`, in seconds.
  func goodput(_ index: Int = 0, from start: Double = 0, to end: Double) -> Double {
    Double(world[receivers[index]]!.receiver!.bytes(from: start, to: end)) / (end - start)
  }

  /// The bytes sent, headers included, for each byte of the stream that arrived.
  func wireRatio(_ index: Int = 0) -> Double {
    let now = Double(world.network.now.nanoseconds) / 1e9
    return Double(flow(index).statistics.bytesSent) / (goodput(index, to: now) * now)
  }

  var counters: LinkCounters { world.network.counters(from: near, to: far) }

  /// The mean length of the link's queue between `start` and `end`, as the seconds that the link
  /// takes to drain it.
  func meanQueue(from start: Double, to end: Double, rate: Double) -> Double {
    let samples = world.network.queueHistory(from: near, to: far).samples.filter {
      Double($0.time.nanoseconds) >= start * 1e9 && Double($0.time.nanoseconds) < end * 1e9
    }
    guard !samples.isEmpty else { return 0 }
    return samples.reduce(0) { $0 + Double($1.bytes) } / Double(samples.count) / rate
  }
}
