import CaromCore

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The reasons why a file or a folder cannot be used.
package enum FileFailure: Error, Hashable {
  /// There is no such file or folder.
  case missing
  /// There is a file of that name already.
  case exists
  /// The path is that of a folder, a device, a pipe or a symbolic link, or the file has several
  /// names.
  case notRegular
  /// The disk, or the account's share of it, is full, or the file has reached the largest size
  /// that the system allows.
  case full
  /// The account has no permission.
  case denied
  /// Another process uses the file.
  case inUse
  /// Any other error: the system's error number and the operation that failed.
  case system(code: Int32, operation: StaticText)

  /// Creates the failure for the current value of `errno`.
  init(_ operation: StaticText) {
    switch errno {
    case ENOENT, ENOTDIR: self = .missing
    case EEXIST: self = .exists
    case EISDIR, ELOOP: self = .notRegular
    case ENOSPC, EDQUOT, EFBIG: self = .full
    case EACCES, EPERM, EROFS: self = .denied
    case EWOULDBLOCK: self = .inUse
    default: self = .system(code: errno, operation: operation)
    }
  }
}

extension FileFailure: CustomStringConvertible {
  package var description: String {
    switch self {
    case .missing: "there is no such file or folder"
    case .exists: "there is a file of that name already"
    case .notRegular: "that is not a regular file"
    case .full: "the disk is full"
    case .denied: "permission denied"
    case .inUse: "another process uses it"
    case .system(let code, let operation):
      "cannot \(operation): \(unsafe String(cString: strerror(code)))"
    }
  }
}
