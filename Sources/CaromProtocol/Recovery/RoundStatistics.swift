/// The measurements of a flow in the current and the last complete round. A round lasts from the
/// sending of a packet to its acknowledgement. Times are in nanoseconds.
struct RoundStatistics: Sendable {
  /// The measurements of one round.
  struct Round: Sendable {
    /// The shortest round-trip time in the round, in nanoseconds; `.max` without samples.
    var minimum = Int64.max
    /// The longest round-trip time in the round, in nanoseconds.
    var maximum: Int64 = 0
    /// The sum of all round-trip times in the round, in nanoseconds.
    var sum: Int64 = 0
    /// The highest delivery rate in the round, in bytes per second.
    var bandwidth = 0.0
    /// The number of round-trip samples in the round.
    var samples: Int32 = 0
    /// The number of packets acknowledged or declared lost in the round.
    var packets: Int32 = 0
    /// The number of packets declared lost in the round.
    var losses: Int32 = 0

    mutating func add(roundTrip: Int64) {
      minimum = min(minimum, roundTrip)
      maximum = max(maximum, roundTrip)
      sum += roundTrip
      samples += 1
    }

    /// The difference between the average and the shortest round-trip time in nanoseconds, or nil
    /// if there are fewer than four samples.
    var excess: Int64? { samples >= 4 ? sum / Int64(samples) - minimum : nil }
  }

  var current = Round()
  var last = Round()
  /// The number of rounds that have begun.
  var count = 0
  /// The number of delivered bytes that determines the end of the current round: the round ends
  /// with the acknowledgement of a packet that was sent after `end` bytes had been delivered.
  private(set) var end: Int64 = 0
  /// Whether the acknowledgement being processed began a round.
  var isStart = false
  /// The jitter in nanoseconds: the average excess of the round-trip times over the shortest one of
  /// their round, measured while no queue builds up.
  private(set) var jitter: Int64 = 0
  /// Whether significantly more packets were lost in the last round than random loss explains,
  /// while the queue was long.
  private(set) var hasExcessLoss = false
  /// The longest recent queueing delay in nanoseconds; it decays by 1/64 each round.
  private var longestQueue: Int64 = 0

  /// Ends the current round and begins the next, which lasts until the acknowledgement of a packet
  /// sent after `end` bytes had been delivered. `expectedLoss` is the fraction of packets that the
  /// path loses at random.
  mutating func begin(until end: Int64, expectedLoss: Double, minimumRoundTrip: Int64) {
    self.end = end
    isStart = true
    (last, current) = (current, Round())
    let expected = Double(last.packets) * expectedLoss
    let longest = max(last.maximum - minimumRoundTrip, 0)
    longestQueue = max(longest, longestQueue - longestQueue / 64)
    // Only a long queue overflows. Random loss happens at any queue length.
    hasExcessLoss =
      Double(last.losses) > expected + 3 * expected.squareRoot() + 4
      && longest >= longestQueue / 2
  }

  /// Lowers the jitter to the jitter of the current round, unless it is already lower. The queues
  /// of other flows may drain during the first rounds, so the lowest measurement is the most
  /// accurate.
  mutating func learnInitialJitter() {
    guard let excess = current.excess else { return }
    jitter = jitter == 0 ? excess : min(jitter, excess)
  }

  /// Moves the jitter a quarter of the way towards the jitter of the current round.
  mutating func updateJitter() {
    guard let excess = current.excess else { return }
    jitter += (excess - jitter) / 4
  }
}

/// The shortest queueing delay in each set of eight round-trip samples. It reveals within one round
/// that a queue is building up.
struct RecentQueue: Sendable {
  private static let samplesPerUpdate = 8

  /// The shortest queueing delay in the last complete set of eight samples, in nanoseconds; 0
  /// before the first set.
  private(set) var delay: Int64 = 0
  private var minimum = Int64.max
  private var samples = 0

  mutating func add(roundTrip: Int64, minimum shortest: Int64) {
    minimum = min(minimum, roundTrip)
    samples += 1
    guard samples >= Self.samplesPerUpdate else { return }
    delay = minimum - shortest
    (minimum, samples) = (.max, 0)
  }

  mutating func reset() { delay = 0 }
}
