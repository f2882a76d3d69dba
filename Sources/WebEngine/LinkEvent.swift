/// Something that happened to the connection of a page. In the shared buffer, each event is four
/// bytes: a code, two values and a 0. The codes from 1 to 31, and those from 36 but 37, are the
/// game's own.
package enum LinkEvent: Hashable, Sendable {
  /// The host has granted a seat.
  case joined
  /// No link carries the connection; it waits to be resumed.
  case interrupted
  /// A link carries the connection again.
  case resumed
  /// The page should open a new link, unless it is already doing so.
  case reconnect
  /// The connection has ended.
  case left(EndCode)

  /// The code and the two values.
  package var bytes: (code: UInt8, first: UInt8, second: UInt8) {
    switch self {
    case .joined: (32, 0, 0)
    case .interrupted: (33, 0, 0)
    case .resumed: (34, 0, 0)
    case .reconnect: (35, 0, 0)
    case .left(let code): (37, code.rawValue, 0)
    }
  }
}
