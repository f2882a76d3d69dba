/// The reason why a datagram was dropped.
public enum DropReason: Int, CaseIterable, Hashable, Sendable {
  /// The datagram was lost at random; see `LinkConditions.loss`.
  case loss
  /// The datagram was lost in a burst; see `LinkConditions.burstLoss`.
  case burst
  /// The queue in front of the bottleneck was full.
  case queue
  /// The packet was longer than the path's MTU.
  case tooLong
  /// The link had an outage.
  case outage
  /// A cable was cut, or the hosts are in different parts of a partition.
  case cut
  /// The link blocks datagrams; see `LinkConditions.blocksDatagrams`.
  case blocked
  /// One of the two machines has crashed.
  case crash
  /// The datagram was addressed to a mapping that a NAT has forgotten.
  case mapping
  /// No machine on the sender's segments has the destination address.
  case unreachable
  /// No open socket is bound to the destination.
  case unclaimed

  /// The name of the reason in the trace format, which does not change.
  var traceName: String { self == .outage ? "blackout" : "\(self)" }
}
