import CaromCore

/// The description of a file that one peer offers to another.
package struct FileOffer: Hashable, Sendable {
  /// The maximum size of a file, in bytes: 1 TiB.
  package static let maximumSize: UInt64 = 1 << 40
  /// The length of `hash`, in bytes.
  package static let hashLength = 32

  /// The name that the sender suggests for the file.
  package let name: FileName
  /// The size of the file, in bytes.
  package let size: UInt64
  /// The BLAKE2b hash of the whole file, `hashLength` bytes. A transfer that was interrupted is
  /// resumed only if the file that is offered again has the same hash and size.
  package let hash: [UInt8]

  /// Creates an offer. `size` must not exceed `maximumSize`.
  package init(_ name: FileName, size: UInt64, hash: [UInt8]) {
    precondition(size <= Self.maximumSize, "a file has at most 1 TiB")
    precondition(hash.count == Self.hashLength, "a file's hash has 32 bytes")
    self.name = name
    self.size = size
    self.hash = hash
  }

  /// Returns whether both offers have the same content, whatever its name is.
  package func hasSameContent(as other: FileOffer) -> Bool {
    size == other.size && hash == other.hash
  }
}
