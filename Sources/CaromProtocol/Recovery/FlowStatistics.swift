/// What a flow of datagrams counted since it began; everything only grows.
package struct FlowStatistics: Hashable, Sendable {
  package internal(set) var packetsSent = 0
  /// With the headers of IP and UDP.
  package internal(set) var bytesSent = 0
  package internal(set) var packetsAcknowledged = 0
  package internal(set) var bytesAcknowledged = 0
  package internal(set) var packetsLost = 0
  /// Packets that came after they had been given up.
  package internal(set) var spuriousLosses = 0
  /// Times that a probe asked after silence.
  package internal(set) var tailProbes = 0
  /// Times that everything counted as lost, since no probe was answered.
  package internal(set) var stalls = 0
  /// Times that larger packets stopped coming through.
  package internal(set) var blackHoles = 0

  package init() {}
}
