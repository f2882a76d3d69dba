import CaromProtocol
import CaromTransport

/// State shared by the nodes that listen on one port.
final class PortShare: Sendable {
  let seats: Int
  let spectatorSeats: Int
  /// The key of address cookies: a client may answer one node with a cookie from another.
  let secret: HostSecret
  /// The connections and seats of all nodes.
  let directory: Locked<HostDirectory>

  init(seats: Int, spectatorSeats: Int) {
    self.seats = seats
    self.spectatorSeats = spectatorSeats
    secret = SessionNode.makeSecret()
    directory = Locked(HostDirectory(seats: seats, spectatorSeats: spectatorSeats))
  }
}
