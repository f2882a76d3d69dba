import CaromCore

extension LinkConditions {
  // MARK: Simple ones

  /// The same everywhere and always: 1 ms, nothing lost, streams come as they were written.
  public static let steady = LinkConditions(
    delay: .milliseconds(1) ... .milliseconds(1), pieceLength: 1 << 30...1 << 30,
    joining: 0)
  /// A cable that is pulled out.
  public static let cut = LinkConditions(isCut: true)

  // MARK: Networks

  /// A local network: 12.5 MB/s (100 Mbit/s), 0.2 ms one way, nothing lost.
  public static let lan = LinkConditions(oneWay: .microseconds(200), rate: 12_500_000)
  /// Wi-Fi in a busy room: 1 MB/s, 5 ms and exponential jitter of 3 ms, 2 % lost, 2 % held back by
  /// 1 ms, 0.1 % doubled.
  public static let wifi = LinkConditions(
    oneWay: .milliseconds(5), jitter: .exponential(mean: .milliseconds(3)), rate: 1_000_000,
    loss: 0.02
  ).with {
    $0.reordering = Reordering(0.02, by: .milliseconds(1))
    $0.duplication = 0.001
  }
  /// A good line: 1 MB/s, 20 ± 3 ms, 0.2 % lost.
  public static let good = LinkConditions(
    oneWay: .milliseconds(20), jitter: .uniform(.milliseconds(3)), rate: 1_000_000, loss: 0.002)
  /// An average line: 1 MB/s, 50 ± 7 ms, 2 % lost, 1 % held back by 10 ms, 0.5 % doubled.
  public static let average = LinkConditions(
    oneWay: .milliseconds(50), jitter: .uniform(.milliseconds(7)), rate: 1_000_000, loss: 0.02
  ).with {
    $0.reordering = Reordering(0.01, by: .milliseconds(10))
    $0.duplication = 0.005
  }
  /// A phone on the move: 250 kB/s, 50 ± 15 ms, 5 % lost, 2 % held back by 50 ms, 1 % doubled.
  public static let mobile = LinkConditions(
    oneWay: .milliseconds(50), jitter: .uniform(.milliseconds(15)), rate: 250_000, loss: 0.05
  ).with {
    $0.reordering = Reordering(0.02, by: .milliseconds(50))
    $0.duplication = 0.01
  }
  /// A poor line: 125 kB/s, 100 ± 30 ms, 10 % lost, 4 % held back by 50 ms, 2 % doubled.
  public static let poor = LinkConditions(
    oneWay: .milliseconds(100), jitter: .uniform(.milliseconds(30)), rate: 125_000, loss: 0.1
  ).with {
    $0.reordering = Reordering(0.04, by: .milliseconds(50))
    $0.duplication = 0.02
  }
  /// A terrible line: 64 kB/s, 100 ± 30 ms, 20 % lost, 4 % held back by 50 ms, 5 % doubled.
  public static let terrible = LinkConditions(
    oneWay: .milliseconds(100), jitter: .uniform(.milliseconds(30)), rate: 64_000, loss: 0.2
  ).with {
    $0.reordering = Reordering(0.04, by: .milliseconds(50))
    $0.duplication = 0.05
  }
  /// Two ways of different length: 2 MB/s, 50 ms, 30 % held back by 40 ms.
  public static let reorderStorm = LinkConditions(
    oneWay: .milliseconds(50), rate: 2_000_000
  ).with { $0.reordering = Reordering(0.3, by: .milliseconds(40)) }
  /// Worse than any line there is, to wear a protocol out: 1 MB/s, 500 ± 50 ms, 25 % lost, 25 %
  /// doubled, the second up to a second later.
  public static let soak = LinkConditions(
    oneWay: .milliseconds(500), jitter: .uniform(.milliseconds(50)), rate: 1_000_000, loss: 0.25
  ).with {
    $0.duplication = 0.25
    $0.duplicationDelay = .seconds(1)
  }
  /// A satellite far out: 2.5 MB/s, 300 ± 10 ms, 1 % lost, 600 ms of queue.
  public static let satellite = LinkConditions(
    oneWay: .milliseconds(300), jitter: .uniform(.milliseconds(10)), rate: 2_500_000, loss: 0.01
  ).with { $0.queue = .time(.milliseconds(600)) }

  // MARK: One trouble each

  /// Loss in bursts: 1 MB/s, 50 ms, 5 % lost, 8 in a row on average.
  public static let bursts = LinkConditions(oneWay: .milliseconds(50), rate: 1_000_000)
    .with { $0.bursts = GilbertElliottLoss(loss: 0.05, length: 8) }
  /// A queue that never says no: 250 kB/s, 20 ms, two seconds of queue.
  public static let bufferbloat = LinkConditions(oneWay: .milliseconds(20), rate: 250_000)
    .with { $0.queue = .time(.seconds(2)) }
  /// As `good`, but dark for 3 s of every 30, the first time after 5 s.
  public static let blackouts = good.with {
    $0.blackout = .every(.seconds(30), lasting: .seconds(3), from: .zero + .seconds(5))
  }
  /// As `good`, behind a translator that gives the sender another port every 10 s, the first time
  /// after 5 s.
  public static let rebinding = good.with {
    $0.rebinding = Rebinding(.port, every: .seconds(10), from: .zero + .seconds(5))
  }
  /// As `good`, but packets may have 1,500 bytes at first, 1,280 after 5 s, and 1,228 after 10 s:
  /// 1,200 of UDP payload over IPv4.
  public static let shrinkingMTU = good.with {
    $0.mtu = PathMTU(
      1_500,
      then: [.init(1_280, from: .zero + .seconds(5)), .init(1_228, from: .zero + .seconds(10))])
  }
  /// As `good`, but 20 % lost: the way back of acknowledgements.
  public static let lossyAcknowledgements = good.with { $0.loss = 0.2 }
}
