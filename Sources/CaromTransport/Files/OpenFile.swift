import CaromCore

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// An open regular file, which is read and written by offset. All calls block.
package final class OpenFile: Sendable {
  let descriptor: Int32

  /// Takes over an open descriptor. Throws `notRegular`, and closes the descriptor, if it is not
  /// that of a regular file.
  init(owning descriptor: Int32) throws(FileFailure) {
    self.descriptor = descriptor
    guard try status().st_mode & S_IFMT == S_IFREG else { throw .notRegular }
  }

  /// Opens a file for reading. Follows symbolic links.
  package convenience init(reading path: String) throws(FileFailure) {
    // A pipe without a writer would block `open`.
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw FileFailure("open the file") }
    try self.init(owning: descriptor)
  }

  deinit { close(descriptor) }

  private func status() throws(FileFailure) -> stat {
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else { throw FileFailure("examine the file") }
    return status
  }

  /// The size of the file, in bytes.
  package var size: UInt64 {
    get throws(FileFailure) { UInt64(try status().st_size) }
  }

  /// The number of names that the file has in its file system.
  var linkCount: Int {
    get throws(FileFailure) { Int(try status().st_nlink) }
  }

  /// Reads `count` bytes at `offset`, or fewer if the file ends before.
  package func read(_ count: Int, at offset: UInt64) throws(FileFailure) -> [UInt8] {
    var failure: FileFailure?
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, length in
      while length < count {
        let part = unsafe pread(
          descriptor, buffer.baseAddress! + length, count - length, off_t(offset) + off_t(length))
        if part < 0, errno == EINTR { continue }
        if part < 0 { failure = FileFailure("read the file") }
        guard part > 0 else { return }
        length += part
      }
    }
    if let failure { throw failure }
    return bytes
  }

  /// Writes all bytes at `offset`.
  package func write(_ bytes: [UInt8], at offset: UInt64) throws(FileFailure) {
    var written = 0
    while written < bytes.count {
      let part = unsafe bytes.withUnsafeBytes { buffer in
        unsafe pwrite(
          descriptor, buffer.baseAddress! + written, buffer.count - written,
          off_t(offset) + off_t(written))
      }
      if part < 0, errno == EINTR { continue }
      guard part > 0 else { throw FileFailure("write the file") }
      written += part
    }
  }

  /// Makes the file `size` bytes long.
  package func truncate(to size: UInt64) throws(FileFailure) {
    guard ftruncate(descriptor, off_t(size)) == 0 else { throw FileFailure("shorten the file") }
  }

  /// Waits until the file's content would survive a crash of the system.
  package func synchronize() throws(FileFailure) {
    guard fsync(descriptor) == 0 else { throw FileFailure("write the file") }
  }

  /// Locks the file until it is closed. Throws `inUse` if it is locked already, by this process or
  /// another.
  package func lock() throws(FileFailure) {
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { throw FileFailure("lock the file") }
  }
}
