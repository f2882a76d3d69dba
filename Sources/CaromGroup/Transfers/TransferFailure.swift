/// The reasons why a file is not transferred. The raw value is the reason's code on the wire.
public enum TransferFailure: UInt8, Error, Hashable, Sendable, CaseIterable {
  /// The receiver does not want the file.
  case declined = 1
  /// One side cancelled the transfer.
  case cancelled = 2
  /// The name is not valid, for example because it contains a separator.
  case invalidName = 3
  /// The receiver has a file of this name, and is not allowed to replace it.
  case exists = 4
  /// The receiver's disk, or the account's share of it, is full.
  case diskFull = 5
  /// The receiver cannot write the file.
  case unwritable = 6
  /// The sender cannot read the file.
  case unreadable = 7
  /// The file was changed while it was being sent.
  case changed = 8
  /// What the receiver has stored does not have the hash that was offered.
  case corrupted = 9
  /// Too many files are offered at the same time.
  case busy = 10
  /// The file has more than 1 TiB.
  case tooLarge = 11
  /// The connection to the peer has ended, or one side has stopped transferring files. A transfer
  /// of the same file continues where this one was interrupted.
  case disconnected = 12
  /// The other side gave a reason that this version does not know.
  case unknown = 255
}

extension TransferFailure: CustomStringConvertible {
  /// A line for users.
  public var description: String {
    switch self {
    case .declined: "the other side declined the file"
    case .cancelled: "the transfer was cancelled"
    case .invalidName:
      "the file's name is not valid: it is hidden, or contains /, \\ or an invisible character"
    case .exists: "there is a file of that name already"
    case .diskFull: "the disk that receives the file is full"
    case .unwritable: "the file cannot be written where it is received"
    case .unreadable: "the file cannot be read"
    case .changed: "the file was changed while it was being sent: send it again"
    case .corrupted: "the received file differs from the one that was offered: send it again"
    case .busy: "too many files are being transferred: try again later"
    case .tooLarge: "the file has more than 1 TiB"
    case .disconnected: "the transfer was interrupted: send the file again to continue it"
    case .unknown: "the other side ended the transfer"
    }
  }
}
