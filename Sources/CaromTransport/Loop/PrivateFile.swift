import CaromCore

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Small files that hold keys. A file is written completely or not at all, and a file that holds a
/// secret is read only if nobody but its owner can read it. All calls block.
package enum PrivateFile {
  /// The reasons why a file is not read or written.
  package enum Failure: Error, Hashable {
    /// There is no such file.
    case missing
    /// The file exists already.
    case exists
    /// The path is that of a folder, a device or a pipe.
    case notRegular
    /// The file belongs to another user, or users other than its owner may read or write it.
    case shared
    /// The file is longer than the limit.
    case tooLong
    /// Any other error: the system's error number and the operation that failed.
    case system(code: Int32, operation: StaticText)
  }

  /// Returns the content of a file. If `isSecret` is true, the file must belong to this user and
  /// give no permissions to others. Throws `tooLong` if the file has more than `limit` bytes.
  package static func content(
    of path: String, limit: Int, isSecret: Bool
  ) throws(Failure) -> [UInt8] {
    // A pipe without a writer would block `open`.
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw failure("open the file") }
    defer { close(descriptor) }
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else { throw failure("examine the file") }
    guard status.st_mode & S_IFMT == S_IFREG else { throw .notRegular }
    if isSecret {
      guard status.st_uid == geteuid(), status.st_mode & 0o077 == 0 else { throw .shared }
    }
    guard status.st_size <= limit else { throw .tooLong }
    var content: [UInt8] = []
    while let part = SystemFile.bytes(from: descriptor) {
      if part.isEmpty { return content }
      content += part
      guard content.count <= limit else { throw .tooLong }
    }
    throw failure("read the file")
  }

  /// Creates a file that only its owner can read or write. The file is never incomplete, even if
  /// the system crashes. Throws `exists`, and changes nothing, if there is a file at `path`
  /// already.
  package static func create(_ content: [UInt8], at path: String) throws(Failure) {
    let temporary = try writeTemporary(content, beside: path)
    defer { _ = unsafe unlink(temporary) }
    // Unlike `rename`, `link` never replaces a file.
    guard unsafe link(temporary, path) == 0 else { throw failure("create the file") }
    synchronizeFolder(of: path)
  }

  /// Creates or replaces a file that only its owner can read or write. A program that opens
  /// the file finds either the old content or the new, even if the system crashes.
  package static func replace(with content: [UInt8], at path: String) throws(Failure) {
    let temporary = try writeTemporary(content, beside: path)
    guard unsafe rename(temporary, path) == 0 else {
      let error = failure("replace the file")
      _ = unsafe unlink(temporary)
      throw error
    }
    synchronizeFolder(of: path)
  }

  /// Creates the folder that contains the file at `path`, and any missing parent folders. Only
  /// their owner can access the created folders.
  package static func makeFolder(of path: String) throws(Failure) {
    var folder = ""
    for name in path.split(separator: "/").dropLast() {
      folder += folder.isEmpty && !path.hasPrefix("/") ? "\(name)" : "/\(name)"
      guard unsafe mkdir(folder, 0o700) == 0 || errno == EEXIST else {
        throw failure("create the folder")
      }
    }
  }

  /// Returns the value of an environment variable, or nil if the variable is not set or is empty.
  package static func environment(_ name: String) -> String? {
    guard let value = unsafe getenv(name) else { return nil }
    let text = unsafe String(cString: value)
    return text.isEmpty ? nil : text
  }

  /// Writes a new file in the folder of `path`, and returns the path of the new file.
  private static func writeTemporary(
    _ content: [UInt8], beside path: String
  ) throws(Failure) -> String {
    let temporary = "\(path).\(String(UInt64.random(in: .min ... .max), radix: 16))"
    let flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW
    let descriptor = unsafe open(temporary, flags, 0o600)
    guard descriptor >= 0 else { throw failure("create a file in the folder") }
    defer { close(descriptor) }
    var rest = content[...]
    var isWritten = true
    while isWritten, !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
      isWritten = count >= 0 || errno == EINTR
      if count > 0 { rest = rest.dropFirst(count) }
    }
    if isWritten, fsync(descriptor) == 0 { return temporary }
    let error = failure("write the file")
    _ = unsafe unlink(temporary)
    throw error
  }

  /// Synchronizes the folder that contains the file at `path`, so that the file's entry in the
  /// folder survives a crash of the system. Ignores errors, since not every folder supports this.
  private static func synchronizeFolder(of path: String) {
    let end = path.utf8.lastIndex(of: UInt8(ascii: "/"))
    let folder = end.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    let descriptor = unsafe open(folder, O_RDONLY | O_CLOEXEC | O_DIRECTORY)
    guard descriptor >= 0 else { return }
    fsync(descriptor)
    close(descriptor)
  }

  private static func failure(_ operation: StaticText) -> Failure {
    switch errno {
    case ENOENT, ENOTDIR: .missing
    case EEXIST: .exists
    case EISDIR: .notRegular
    default: .system(code: errno, operation: operation)
    }
  }
}

extension PrivateFile.Failure: CustomStringConvertible {
  package var description: String {
    switch self {
    case .missing: "there is no such file or folder"
    case .exists: "the file exists already"
    case .notRegular: "that is not a file"
    case .shared: "other users can read it, or it belongs to one: use chmod 600, or chown"
    case .tooLong: "the file is too long"
    case .system(let code, let operation):
      "cannot \(operation): \(unsafe String(cString: strerror(code)))"
    }
  }
}
