import CUVLoop
import CaromCore

/// Finds out whether a remote system reports that no program listens on a UDP port.
///
/// The probe sends empty datagrams from a socket of its own. A program that listens ignores them.
package final class PortProbe {
  /// The number of reports after which the port is believed to have no listener. A single report
  /// may be outdated: the program may have begun to listen right after it.
  package static let reportsNeeded = 3

  private let descriptor: Int32
  private var reports = 0

  /// Creates a probe of `endpoint`, without sending anything. Throws if the system has no route to
  /// the endpoint or no descriptors left.
  package init(of endpoint: Endpoint) throws(TransportError) {
    var peer = endpoint.c
    descriptor = unsafe cuv_probe_open(&peer)
    try check(descriptor, "probe a port", at: endpoint)
  }

  deinit { if descriptor >= 0 { cuv_probe_close(descriptor) } }

  /// Sends one datagram, and counts a report that has arrived since the last call.
  package func send() { if cuv_probe_send(descriptor) { reports += 1 } }

  /// Whether the port is believed to have no listener.
  package var isRefused: Bool { reports >= Self.reportsNeeded }
}
