import CaromCore
import CaromProtocol
import CaromTesting

/// Competing traffic: sends an endless stream to a `FlowReceiver` as TCP with CUBIC does
/// (RFC 9438).
struct CubicSender {
  private static let size = 1_472
  private static let reduction = 0.7
  private static let growth = 0.4

  private struct Packet {
    var sent: Instant
    var isOpen = true
  }

  let socket: VirtualSocket
  private let destination: Endpoint
  private var packets: [Packet] = []
  private var oldest = 0
  private var inFlight = 0
  private var largest = -1
  private var window = 10.0
  private var threshold = Double.infinity
  private var plateau = 0.0
  private var plateauDelay = 0.0
  private var epoch: Instant?
  private var recoveryEnd = -1
  private var leastRoundTrip = Duration.seconds(60)
  private var roundTrip = Duration.milliseconds(200)
  private var ranges = AcknowledgedRanges()
  private var lastProgress: Instant

  init(_ socket: VirtualSocket, to destination: Endpoint, at now: Instant) {
    self.socket = socket
    self.destination = destination
    lastProgress = now
  }

  var nextTimeout: Instant? { lastProgress + .seconds(1) }

  mutating func handle(_ payload: [UInt8], in network: inout VirtualNetwork) {
    var reader = FrameReader(payload.span)
    guard let frame = try? reader.next(ranges: &ranges), case .acknowledgement = frame else {
      return
    }
    acknowledge(at: network.now)
    findLosses(at: network.now)
    pump(in: &network)
  }

  mutating func handleTimeout(in network: inout VirtualNetwork) {
    if lastProgress + .seconds(1) <= network.now {
      lastProgress = network.now
      for number in oldest..<packets.count { packets[number].isOpen = false }
      (oldest, inFlight) = (packets.count, 0)
      (threshold, window) = (max(2, window * Self.reduction), 2)
    }
    pump(in: &network)
  }

  mutating func pump(in network: inout VirtualNetwork) {
    while Double(inFlight) < window {
      var writer = PacketWriter(capacity: Self.size)
      writer.writeBigEndian(UInt32(packets.count))
      writer.writeBigEndian(UInt64(packets.count * (Self.size - 16)))
      writer.writeBigEndian(UInt32(Self.size - 16))
      packets.append(Packet(sent: network.now))
      inFlight += 1
      let payload = writer.bytes + [UInt8](repeating: 0, count: Self.size - 16)
      network.send(payload, from: socket, to: destination)
    }
  }

  private mutating func acknowledge(at now: Instant) {
    for index in 0..<ranges.count {
      let lowest = max(Int(ranges[index].lowerBound), oldest)
      let highest = Int(ranges[index].upperBound)
      guard lowest <= highest else { continue }
      for number in lowest...highest where packets[number].isOpen {
        packets[number].isOpen = false
        inFlight -= 1
        if number > largest {
          largest = number
          roundTrip = now - packets[number].sent
          leastRoundTrip = min(leastRoundTrip, roundTrip)
        }
        lastProgress = now
        if largest > recoveryEnd { grow(at: now) }
      }
    }
    while oldest < packets.count, !packets[oldest].isOpen { oldest += 1 }
  }

  private mutating func grow(at now: Instant) {
    guard window >= threshold else {
      window += 1
      if roundTrip > leastRoundTrip + max(leastRoundTrip / 8, .milliseconds(4)) {
        threshold = window
      }
      return
    }
    let start = epoch ?? now
    if epoch == nil {
      (epoch, plateau) = (now, max(plateau, window))
      plateauDelay = Self.cubeRoot((plateau - window) / Self.growth)
    }
    let time = (now - start + leastRoundTrip).inMilliseconds / 1_000 - plateauDelay
    let wanted = plateau + Self.growth * time * time * time
    let friendly =
      plateau * Self.reduction
      + 0.53 * (now - start).inMilliseconds / max(roundTrip.inMilliseconds, 1)
    let target = min(max(wanted, friendly), 1.5 * window)
    if target > window { window += (target - window) / window }
  }

  private mutating func findLosses(at now: Instant) {
    var number = oldest
    while number <= largest - 3 {
      if packets[number].isOpen {
        packets[number].isOpen = false
        inFlight -= 1
        if number > recoveryEnd { reduce() }
      }
      number += 1
    }
    oldest = max(oldest, number)
  }

  private mutating func reduce() {
    recoveryEnd = packets.count - 1
    plateau = window < plateau ? window * (1 + Self.reduction) / 2 : window
    window = max(2, window * Self.reduction)
    threshold = window
    epoch = nil
    plateauDelay = 0
  }

  private static func cubeRoot(_ value: Double) -> Double {
    guard value > 0 else { return 0 }
    var root = max(1, value)
    for _ in 0..<60 { root = (2 * root + value / (root * root)) / 3 }
    return root
  }
}
