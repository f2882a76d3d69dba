/// What happens to a file that has the name of a file that is received.
public enum ExistingFile: Sendable {
  /// Both are kept: the new file gets a number, as in "photo (2).jpg".
  case keepBoth
  /// The transfer fails with `TransferFailure.exists`.
  case refuse
  /// The existing file is replaced once the new one is complete and verified.
  case replace
}
