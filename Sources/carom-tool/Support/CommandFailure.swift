import CaromDNS
import CaromNearby
import TerminalText

@_exported import struct CommandSupport.CommandFailure

extension CommandFailure {
  /// Parses a domain. Throws a failure if `text` is not a valid domain.
  static func domain(_ text: String) throws(CommandFailure) -> Name {
    guard let name = try? Name(text: text), name != .root else {
      throw CommandFailure(.badName, "'\(text)' is not a valid domain: use labels of 1 to 63 bytes")
    }
    return name
  }

  /// Returns `name` if it is a valid display name. Throws a failure if it is empty, consists only
  /// of white space, or has more than 63 bytes.
  static func displayName(_ name: String) throws(CommandFailure) -> String {
    guard name.contains(where: { !$0.isWhitespace }) else {
      throw CommandFailure(.badName, "the name is empty: give one that others can see")
    }
    let count = name.utf8.count
    guard count <= PeerID.maximumNameLength else {
      throw CommandFailure(.badName, "the name has \(count) bytes: use at most 63")
    }
    return name
  }

  /// Creates the failure that reports why a file was not transferred.
  init(_ failure: TransferFailure, of file: String) {
    let status: ExitStatus =
      switch failure {
      case .invalidName: .badName
      case .diskFull, .unwritable, .unreadable, .changed, .corrupted, .tooLarge: .ioFailed
      case .declined, .cancelled, .exists, .busy, .unknown: .unavailable
      case .disconnected: .unreachable
      }
    self.init(status, "\(file): \(failure)")
  }
}
