import CaromCore
import CaromCrypto
import CaromGroup
import CaromTransport

/// A file that is received. It is written on a thread of its own.
actor FileDestination: LoopActor {
  /// The number of bytes that are read and hashed at a time when a transfer is resumed.
  private static let chunk = 1 << 18

  nonisolated let loop: NetworkLoop
  nonisolated let offer: FileOffer
  private let name: FileName
  private let existing: ExistingFile
  private let folderPath: String
  private let hasher = ContentHasher()
  private var partial: PartialFile?
  private var offset: UInt64 = 0
  /// Whether the folder has a file of this name and content already.
  private var isStored = false

  init(
    _ offer: FileOffer, in folder: String, as name: FileName, _ existing: ExistingFile,
    on loop: NetworkLoop
  ) {
    self.offer = offer
    self.name = name
    self.existing = existing
    self.loop = loop
    folderPath = folder
  }

  /// Opens the incomplete file, and returns the offset up to which it has been received earlier. If
  /// the folder has the file already, because the end of an earlier transfer was not reported to
  /// the sender, the offset is the size of the file.
  func open() async throws(TransferFailure) -> UInt64 {
    do throws(FileFailure) {
      let folder = try OpenFolder(folderPath)
      isStored = try await hasFile(in: folder)
      if isStored { return offer.size }
      if case .refuse = existing, folder.contains(name.text) { throw .exists }
      let partial = try PartialFile(of: offer, in: folder)
      self.partial = partial
      let size = try partial.file.size
      if size > offer.size { try partial.file.truncate(to: 0) }
      let stored = size > offer.size ? 0 : size
      // Some file systems report no free space where there is some, so that 0 means nothing.
      if let free = folder.freeBytes, free > 0, free < offer.size - stored { throw .full }
      try await hash(stored, of: partial.file, with: hasher)
      offset = stored
      return stored
    } catch {
      remove()
      throw TransferFailure(error)
    }
  }

  private func hasFile(in folder: OpenFolder) async throws(FileFailure) -> Bool {
    guard folder.contains(name.text), let file = try? folder.fileForReading(name.text),
      try file.size == offer.size
    else { return false }
    let hasher = ContentHasher()
    try await hash(offer.size, of: file, with: hasher)
    return hasher.finish() == offer.hash
  }

  private func hash(
    _ size: UInt64, of file: OpenFile, with hasher: ContentHasher
  ) async throws(FileFailure) {
    var offset: UInt64 = 0
    while offset < size {
      let bytes = try file.read(Int(min(UInt64(Self.chunk), size - offset)), at: offset)
      guard !bytes.isEmpty else { throw .inUse }
      hasher.update(bytes)
      offset += UInt64(bytes.count)
      await Task.yield()  // other files are read and written on the same thread
    }
  }

  /// Stores the next bytes of the file, and returns the offset after them. Throws `disconnected`
  /// after `close`.
  func write(_ pieces: [[UInt8]]) throws(TransferFailure) -> UInt64 {
    guard let partial else { throw .disconnected }
    for bytes in pieces {
      do throws(FileFailure) {
        try partial.file.write(bytes, at: offset)
      } catch { throw TransferFailure(error) }
      hasher.update(bytes)
      offset += UInt64(bytes.count)
    }
    return offset
  }

  /// Verifies the hash of the whole file and gives the file its final name, which is returned.
  func finish() throws(TransferFailure) -> FileName {
    if isStored { return name }
    guard let partial, hasher.finish() == offer.hash else { throw .corrupted }
    do throws(FileFailure) {
      return try partial.publish(as: name, existing)
    } catch { throw TransferFailure(error) }
  }

  /// Closes the incomplete file, which another transfer can continue then.
  func close() { partial = nil }

  /// Removes what was received.
  func remove() {
    partial?.remove()
    partial = nil
  }
}

extension TransferFailure {
  /// The reason for a peer, if a file cannot be written.
  init(_ failure: FileFailure) {
    self =
      switch failure {
      case .full: .diskFull
      case .exists: .exists
      case .missing, .notRegular, .denied, .inUse, .system: .unwritable
      }
  }
}
