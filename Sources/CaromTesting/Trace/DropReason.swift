/// Why a datagram came to nobody.
public enum DropReason: Int, CaseIterable, Hashable, Sendable {
  /// `LinkConditions.loss` took it.
  case loss
  /// `LinkConditions.bursts` took it.
  case burst
  /// The queue in front of the link's rate was full.
  case queue
  /// Its packet was longer than the way carries.
  case tooLong
  /// The link was dark.
  case blackout
  /// A cable was pulled out, or a partition lies between.
  case cut
  /// `LinkConditions.blocksDatagrams` kept it out.
  case blocked
  /// One of the machines had crashed.
  case crash
  /// It went to a source that a translator forgot.
  case mapping
  /// No machine has the address, or none on a segment of the sender.
  case unreachable
  /// Nobody has an open socket there.
  case unclaimed
}
