import CaromCore

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// An open folder, whose files are used by their names. All calls block.
///
/// A name is one component of a path. No call follows a symbolic link, and the folder stays the
/// same if its own path is changed to denote another one, so that nothing outside the folder is
/// ever read or changed.
package final class OpenFolder: Sendable {
  private let descriptor: Int32

  /// Opens a folder. Follows symbolic links in `path`.
  package init(_ path: String) throws(FileFailure) {
    descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_DIRECTORY)
    guard descriptor >= 0 else { throw FileFailure("open the folder") }
  }

  deinit { close(descriptor) }

  private static func check(_ name: String) {
    precondition(
      !name.utf8.contains(UInt8(ascii: "/")) && name != "." && name != ".." && !name.isEmpty,
      "a file's name is one component of a path")
  }

  /// The number of bytes that the account can still write to the folder's file system, or nil if
  /// the system does not say.
  package var freeBytes: UInt64? {
    var status = statvfs()
    guard unsafe fstatvfs(descriptor, &status) == 0 else { return nil }
    return UInt64(status.f_bavail) * UInt64(status.f_frsize)
  }

  /// Returns whether the folder has a file, folder or link of this name.
  package func contains(_ name: String) -> Bool {
    Self.check(name)
    var status = stat()
    return unsafe fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0
  }

  /// Returns whether a name is that of an open file.
  package func has(_ file: OpenFile, named name: String) -> Bool {
    Self.check(name)
    var (named, opened) = (stat(), stat())
    guard unsafe fstatat(descriptor, name, &named, AT_SYMLINK_NOFOLLOW) == 0,
      unsafe fstat(file.descriptor, &opened) == 0
    else { return false }
    return (named.st_dev, named.st_ino) == (opened.st_dev, opened.st_ino)
  }

  /// Opens a file for reading and writing. Throws `notRegular` if the name is that of anything
  /// else, or if the file has another name too.
  ///
  /// If `isCreated` is true and there is no such file, creates it; if `isPrivate` is true, only its
  /// owner can access the new file.
  package func file(
    _ name: String, isCreated: Bool, isPrivate: Bool = false
  ) throws(FileFailure) -> OpenFile {
    Self.check(name)
    let flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | (isCreated ? O_CREAT : 0)
    let opening = unsafe openat(descriptor, name, flags, isPrivate ? 0o600 : 0o666)
    guard opening >= 0 else { throw FileFailure("open the file") }
    let opened = try OpenFile(owning: opening)
    guard try opened.linkCount == 1 else { throw .notRegular }
    return opened
  }

  /// Opens a file for reading. Throws `notRegular` if the name is that of anything else.
  package func fileForReading(_ name: String) throws(FileFailure) -> OpenFile {
    Self.check(name)
    let flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
    let opening = unsafe openat(descriptor, name, flags)
    guard opening >= 0 else { throw FileFailure("open the file") }
    return try OpenFile(owning: opening)
  }

  /// Returns the content of a file, or nil if there is no such regular file or it is longer than
  /// `limit` bytes.
  package func content(of name: String, limit: Int) -> [UInt8]? {
    guard let file = try? fileForReading(name), let size = try? file.size, size <= limit
    else { return nil }
    return try? file.read(Int(size), at: 0)
  }

  /// Creates or replaces a small file. A program that opens the file finds either the old content
  /// or the new.
  package func replace(_ name: String, with content: [UInt8]) throws(FileFailure) {
    let temporary = name + ".new"
    remove(temporary)
    let file = try self.file(temporary, isCreated: true, isPrivate: true)
    try file.truncate(to: 0)
    try file.write(content, at: 0)
    try move(temporary, replacing: name)
  }

  /// Renames a file. A file of the new name is replaced; a symbolic link of that name is replaced
  /// too, and not the file that it points to.
  package func move(_ name: String, replacing newName: String) throws(FileFailure) {
    Self.check(name)
    Self.check(newName)
    guard unsafe renameat(descriptor, name, descriptor, newName) == 0 else {
      throw FileFailure("rename the file")
    }
  }

  /// Renames a file, unless there is a file, folder or link of the new name, in which case it
  /// throws `exists`.
  package func move(_ name: String, to newName: String) throws(FileFailure) {
    Self.check(name)
    Self.check(newName)
    // Unlike `renameat`, `linkat` never replaces a file.
    if unsafe linkat(descriptor, name, descriptor, newName, 0) == 0 {
      remove(name)
      return
    }
    guard errno == EPERM || errno == EOPNOTSUPP || errno == ENOTSUP else {
      throw FileFailure("rename the file")
    }
    // The file system has no hard links: an empty file reserves the name.
    let flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW
    let reserved = unsafe openat(descriptor, newName, flags, 0o600)
    guard reserved >= 0 else { throw FileFailure("rename the file") }
    close(reserved)
    do throws(FileFailure) {
      try move(name, replacing: newName)
    } catch {
      remove(newName)
      throw error
    }
  }

  /// Removes a file. Does nothing if there is no such file.
  package func remove(_ name: String) {
    Self.check(name)
    _ = unsafe unlinkat(descriptor, name, 0)
  }

  /// The names of the files in the folder, in no particular order.
  package var names: [String] {
    let copy = unsafe openat(descriptor, ".", O_RDONLY | O_CLOEXEC | O_DIRECTORY)
    guard copy >= 0 else { return [] }
    guard let directory = unsafe fdopendir(copy) else {
      close(copy)
      return []
    }
    return unsafe SystemFile.names(in: directory)
  }

  /// Waits until the names of the files would survive a crash of the system. Ignores errors, since
  /// not every file system supports this.
  package func synchronize() { fsync(descriptor) }
}
