import CaromCore

extension Connection {
  /// How the link that was opened last is protected.
  var protection: LinkProtection {
    guard let security = local.security else {
      return local.requiresSealedStreams ? .below : .none
    }
    return newestKeys.map { security.protection(of: $0) } ?? LinkProtection(security.policy)
  }

  /// The measurements and counters of the connection.
  var peerStatistics: PeerStatistics {
    var result = PeerStatistics()
    result.link = link
    result.protection = protection
    result.roundTrip = roundTrip.smoothed
    result.latestRoundTrip = roundTrip.latest
    result.clockOffset = roundTrip.clockOffset
    channels.add(to: &result)
    if let flow = datagram?.flow { flow.add(to: &result) }
    return result
  }
}

extension DatagramFlow {
  func add(to result: inout PeerStatistics) {
    let estimator = roundTrip
    if estimator.hasSample {
      result.roundTrip = .nanoseconds(estimator.smoothed)
      result.latestRoundTrip = .nanoseconds(estimator.latest)
      result.leastRoundTrip = .nanoseconds(estimator.minimum)
      result.variation = .nanoseconds(estimator.variation)
    }
    result.lossRate = lossRate
    result.packetsSent = UInt64(statistics.packetsSent)
    result.packetsAcknowledged = UInt64(statistics.packetsAcknowledged)
    result.packetsLost = UInt64(statistics.packetsLost)
    result.bytesSent = UInt64(statistics.bytesSent)
    result.bytesAcknowledged = UInt64(statistics.bytesAcknowledged)
    result.bandwidth = bandwidth
    result.packetSize = packetSize
  }
}

extension ChannelSet {
  func add(to result: inout PeerStatistics) {
    result.bytesQueued = queuedBytes
    result.messagesSent = statistics.messagesSent
    result.messagesReceived = statistics.messagesReceived
    result.resent = statistics.resent
    result.redundant = statistics.redundant
    result.expired = statistics.expired
    result.replaced = statistics.replaced
    result.dropped = statistics.overflowed
    result.stale = statistics.stale
    result.channels = channels.lazy.map { $0.number }.sorted()
      .filter { $0 != ChannelLimits.sessionChannel }.map(summary)
  }

  private func summary(of channel: UInt8) -> PeerStatistics.Traffic {
    let traffic = traffic(of: channel)
    var result = PeerStatistics.Traffic(channel: channel)
    result.messagesSent = traffic.messagesSent
    result.bytesSent = traffic.bytesSent
    result.messagesReceived = traffic.messagesReceived
    result.bytesReceived = traffic.bytesReceived
    for lane in lanes where lane.channel == channel {
      for position in 0..<lane.unsent.count where !lane.unsent[position].isDone {
        result.messagesQueued += 1
      }
      for messages in [lane.unsentBulk, lane.outstanding] {
        result.messagesQueued += messages.count { !$0.isDone }
      }
    }
    return result
  }
}
