import CaromProtocol
import CaromTransport

/// What nodes that listen on one port have in common.
final class PortShare: Sendable {
  let seats: Int
  let spectatorSeats: Int
  /// Whichever node a caller's address was proven to, all of them believe it.
  let secret: HostSecret
  let directory: Locked<HostDirectory>

  init(seats: Int, spectatorSeats: Int) {
    self.seats = seats
    self.spectatorSeats = spectatorSeats
    secret = SessionNode.makeSecret()
    directory = Locked(HostDirectory(seats: seats, spectatorSeats: spectatorSeats))
  }
}
