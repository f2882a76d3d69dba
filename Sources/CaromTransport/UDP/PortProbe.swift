import CUVLoop
import CaromCore

/// Finds out whether a remote system reports that no program listens on a UDP port.
///
/// The probe sends empty datagrams from a socket of its own. A program that listens ignores them.
package final class PortProbe {
  /// The number of reports that are believed. A single one may belong to the moment before the
  /// program begins to listen.
  package static let reportsNeeded = 3

  private let descriptor: Int32
  private var reports = 0

  /// Creates a probe of `endpoint`, which has sent nothing. Throws if the system has no route to it
  /// or no descriptors.
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
