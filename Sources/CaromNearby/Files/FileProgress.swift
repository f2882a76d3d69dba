/// How much of a file has been transferred.
public struct FileProgress: Hashable, Sendable {
  /// The number of bytes that the receiver has stored, including those of an earlier transfer that
  /// was interrupted.
  public let stored: UInt64
  /// The size of the file, in bytes.
  public let size: UInt64

  /// The part that is stored, from 0 to 1. It is 1 for an empty file.
  public var fraction: Double { size == 0 ? 1 : Double(stored) / Double(size) }
}
