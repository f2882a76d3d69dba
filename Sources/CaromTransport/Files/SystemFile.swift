#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Access to files and open descriptors by blocking system calls. Small programs use these
/// functions instead of Foundation's, since loading Foundation takes more memory than all of the
/// program's own code.
package enum SystemFile {
  /// The largest number of bytes that one system call reads.
  package static let chunk = 16_384

  /// Returns the content of a file, truncated to `limit` bytes, or nil if the file cannot be read.
  /// A file for which the system reports a size of 0, such as one in /proc, is also read to its
  /// end.
  package static func content(of path: String, limit: Int) -> [UInt8]? {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var content: [UInt8] = []
    while content.count < limit {
      guard let part = bytes(from: descriptor, atMost: min(chunk, limit - content.count)) else {
        return nil
      }
      if part.isEmpty { break }
      content += part
    }
    return content
  }

  /// Waits for bytes from a descriptor and returns at most `count` of them, or an empty array if
  /// the descriptor has reached its end. Returns nil if the descriptor cannot be read.
  package static func bytes(from descriptor: Int32, atMost count: Int = chunk) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: count)
    while true {
      let length = unsafe read(descriptor, &bytes, count)
      if length >= 0 { return Array(bytes.prefix(length)) }
      guard errno == EINTR else { return nil }
    }
  }

  /// Writes all bytes to a descriptor, and waits until the system has accepted them.
  package static func append(_ bytes: [UInt8], to descriptor: Int32) throws(TransportError) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes { part in
        unsafe write(descriptor, part.baseAddress, part.count)
      }
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw TransportError(status: -errno, "write") }
      rest = rest.dropFirst(count)
    }
  }

  /// Returns whether a descriptor is that of a terminal.
  package static func isTerminal(_ descriptor: Int32) -> Bool { isatty(descriptor) == 1 }

  /// Returns the names of the entries of a folder, in no particular order, or an empty array if the
  /// folder cannot be read.
  package static func names(in folder: String) -> [String] {
    guard let directory = unsafe opendir(folder) else { return [] }
    return unsafe names(in: directory)
  }

  /// Returns the names of the entries of an open folder, in no particular order, and closes it.
  static func names(in directory: OpaquePointer) -> [String] {
    defer { unsafe closedir(directory) }
    var names: [String] = []
    while let entry = unsafe readdir(directory) {
      let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names
  }

  /// Returns the path that a symbolic link points to, or nil if `path` is not a symbolic link.
  package static func target(ofLink path: String) -> String? {
    var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = unsafe readlink(path, &bytes, bytes.count)
    guard count >= 0 else { return nil }
    return String(decoding: bytes.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
