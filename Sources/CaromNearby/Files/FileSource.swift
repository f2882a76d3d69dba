import CaromCrypto
import CaromGroup
import CaromTransport

/// A part of a file that is to be read.
struct FilePart: Sendable {
  let offset: UInt64
  let count: Int
}

/// A file that is sent to one or more peers. It is read on a thread of its own.
actor FileSource: LoopActor {
  /// The number of bytes that are read and hashed at a time.
  private static let chunk = 1 << 18

  nonisolated let loop: NetworkLoop
  private let path: String
  private var file: OpenFile?

  init(_ path: String, on loop: NetworkLoop) {
    self.path = path
    self.loop = loop
  }

  /// Opens and reads the whole file and returns its offer. Throws `changed` if the file changes its
  /// size meanwhile.
  func makeOffer(_ name: FileName) async throws(TransferFailure) -> FileOffer {
    let hasher = ContentHasher()
    do throws(FileFailure) {
      file = try OpenFile(reading: path)
    } catch { throw .unreadable }
    let size = try fileSize
    guard size <= FileOffer.maximumSize else { throw .tooLarge }
    var offset: UInt64 = 0
    while offset < size {
      let bytes = try read(Int(min(UInt64(Self.chunk), size - offset)), at: offset)
      hasher.update(bytes)
      offset += UInt64(bytes.count)
      if Task.isCancelled { throw .cancelled }
      await Task.yield()  // other files are read and written on the same thread
    }
    guard try fileSize == size else { throw .changed }
    return FileOffer(name, size: size, hash: hasher.finish())
  }

  private var opened: OpenFile {
    get throws(FileFailure) {
      guard let file else { throw .missing }
      return file
    }
  }

  private var fileSize: UInt64 {
    get throws(TransferFailure) {
      do throws(FileFailure) {
        return try opened.size
      } catch { throw .unreadable }
    }
  }

  /// Reads some parts of the file. Throws `changed` if the file ends before one of them does.
  func read(_ parts: [FilePart]) throws(TransferFailure) -> [[UInt8]] {
    var pieces: [[UInt8]] = []
    for part in parts { pieces.append(try read(part.count, at: part.offset)) }
    return pieces
  }

  private func read(_ count: Int, at offset: UInt64) throws(TransferFailure) -> [UInt8] {
    let bytes: [UInt8]
    do throws(FileFailure) {
      bytes = try opened.read(count, at: offset)
    } catch { throw .unreadable }
    guard bytes.count == count else { throw .changed }
    return bytes
  }
}
