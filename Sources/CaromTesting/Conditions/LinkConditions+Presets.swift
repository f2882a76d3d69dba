import CaromCore

extension LinkConditions {
  // MARK: Simple conditions

  /// A constant delay of 1 ms without loss. Streams deliver the same chunks that were written.
  public static let steady = LinkConditions(
    delay: .milliseconds(1) ... .milliseconds(1), chunkLength: 1 << 30...1 << 30,
    coalescing: 0)
  /// An unplugged cable: all datagrams are lost, and streams wait.
  public static let cut = LinkConditions(isCut: true)

  // MARK: Networks

  /// A local network: 12.5 MB/s (100 Mbit/s), 0.2 ms one way, no loss.
  public static let lan = LinkConditions(oneWay: .microseconds(200), rate: 12_500_000)
  /// Wi-Fi in a busy room: 1 MB/s, 5 ms one way with exponential jitter of 3 ms, 2 % loss, 2 %
  /// delayed by another 1 ms, 0.1 % duplicated.
  public static let wifi = LinkConditions(
    oneWay: .milliseconds(5), jitter: .exponential(mean: .milliseconds(3)), rate: 1_000_000,
    loss: 0.02
  ).with {
    $0.reordering = Reordering(0.02, by: .milliseconds(1))
    $0.duplication = 0.001
  }
  /// A good internet path: 1 MB/s, 20 ± 3 ms one way, 0.2 % loss.
  public static let good = LinkConditions(
    oneWay: .milliseconds(20), jitter: .uniform(.milliseconds(3)), rate: 1_000_000, loss: 0.002)
  /// An average internet path: 1 MB/s, 50 ± 7 ms one way, 2 % loss, 1 % delayed by another 10 ms,
  /// 0.5 % duplicated.
  public static let average = LinkConditions(
    oneWay: .milliseconds(50), jitter: .uniform(.milliseconds(7)), rate: 1_000_000, loss: 0.02
  ).with {
    $0.reordering = Reordering(0.01, by: .milliseconds(10))
    $0.duplication = 0.005
  }
  /// A phone on the move: 250 kB/s, 50 ± 15 ms one way, 5 % loss, 2 % delayed by another 50 ms, 1 %
  /// duplicated.
  public static let mobile = LinkConditions(
    oneWay: .milliseconds(50), jitter: .uniform(.milliseconds(15)), rate: 250_000, loss: 0.05
  ).with {
    $0.reordering = Reordering(0.02, by: .milliseconds(50))
    $0.duplication = 0.01
  }
  /// A poor internet path: 125 kB/s, 100 ± 30 ms one way, 10 % loss, 4 % delayed by another 50 ms,
  /// 2 % duplicated.
  public static let poor = LinkConditions(
    oneWay: .milliseconds(100), jitter: .uniform(.milliseconds(30)), rate: 125_000, loss: 0.1
  ).with {
    $0.reordering = Reordering(0.04, by: .milliseconds(50))
    $0.duplication = 0.02
  }
  /// A terrible internet path: 64 kB/s, 100 ± 30 ms one way, 20 % loss, 4 % delayed by another 50
  /// ms, 5 % duplicated.
  public static let terrible = LinkConditions(
    oneWay: .milliseconds(100), jitter: .uniform(.milliseconds(30)), rate: 64_000, loss: 0.2
  ).with {
    $0.reordering = Reordering(0.04, by: .milliseconds(50))
    $0.duplication = 0.05
  }
  /// Heavy reordering, as over two paths of different length: 2 MB/s, 50 ms one way, 30 % delayed
  /// by another 40 ms.
  public static let reorderStorm = LinkConditions(
    oneWay: .milliseconds(50), rate: 2_000_000
  ).with { $0.reordering = Reordering(0.3, by: .milliseconds(40)) }
  /// Conditions for a soak test, worse than any real path: 1 MB/s, 500 ± 50 ms one way, 25 % loss,
  /// 25 % duplicated, with the copy up to 1 s later.
  public static let soak = LinkConditions(
    oneWay: .milliseconds(500), jitter: .uniform(.milliseconds(50)), rate: 1_000_000, loss: 0.25
  ).with {
    $0.duplication = 0.25
    $0.duplicationDelay = .seconds(1)
  }
  /// A geostationary satellite: 2.5 MB/s, 300 ± 10 ms one way, 1 % loss, a queue of 600 ms.
  public static let satellite = LinkConditions(
    oneWay: .milliseconds(300), jitter: .uniform(.milliseconds(10)), rate: 2_500_000, loss: 0.01
  ).with { $0.queue = .time(.milliseconds(600)) }

  // MARK: One impairment each

  /// Loss in bursts: 1 MB/s, 50 ms one way, 5 % loss, in bursts of 8 datagrams on average.
  public static let burstLoss = LinkConditions(oneWay: .milliseconds(50), rate: 1_000_000)
    .with { $0.burstLoss = GilbertElliottLoss(loss: 0.05, length: 8) }
  /// An oversized queue: 250 kB/s, 20 ms one way, a queue of 2 s.
  public static let bufferbloat = LinkConditions(oneWay: .milliseconds(20), rate: 250_000)
    .with { $0.queue = .time(.seconds(2)) }
  /// The same as `good`, but with an outage of 3 s every 30 s, the first after 5 s.
  public static let outages = good.with {
    $0.outage = .every(.seconds(30), lasting: .seconds(3), from: .zero + .seconds(5))
  }
  /// The same as `good`, but behind a NAT that maps the sender to a different port every 10 s, the
  /// first time after 5 s.
  public static let rebinding = good.with {
    $0.rebinding = Rebinding(.port, every: .seconds(10), from: .zero + .seconds(5))
  }
  /// The same as `good`, but with an MTU of 1,500 bytes at first, 1,280 after 5 s and 1,228 after
  /// 10 s, which leaves 1,200 bytes of UDP payload over IPv4.
  public static let shrinkingMTU = good.with {
    $0.mtu = PathMTU(
      1_500,
      then: [.init(1_280, from: .zero + .seconds(5)), .init(1_228, from: .zero + .seconds(10))])
  }
  /// The same as `good`, but with 20 % loss: the return path of `LinkProfile`'s
  /// "lossy-acknowledgements".
  public static let lossyAcknowledgements = good.with { $0.loss = 0.2 }
}
