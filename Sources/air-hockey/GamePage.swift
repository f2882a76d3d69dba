import AirHockeyTerminal
import CQRCode
import Carom
import Foundation

/// The page with which browsers play: the files that the host serves.
struct GamePage: Sendable {
  /// The media types of the files that are served, by the extension of the name. All other files in
  /// the folder are left out.
  private static let mediaTypes = [
    "css": "text/css; charset=utf-8", "html": "text/html; charset=utf-8",
    "js": "text/javascript; charset=utf-8", "png": "image/png", "svg": "image/svg+xml",
    "wasm": "application/wasm",
  ]
  /// The maximum length of a file, in bytes: ten times the length of the engine.
  private static let lengthLimit = 6 << 20

  /// The pages for the session.
  private(set) var options: BrowserOptions

  /// Reads the files of the folder at `path` or, if it is nil, of the first default folder that
  /// exists. `certificate` is that with which the page is served over TLS, if it is. Throws if
  /// there is no page, or if a file cannot be read.
  init(path: String?, certificate: TLSCertificate? = nil) throws(CommandFailure) {
    let folders =
      path.map { [URL(filePath: $0)] } ?? Self.defaultFolders(of: .ownProgram)
    let found = folders.first {
      FileManager.default.fileExists(atPath: $0.appending(path: "index.html").path)
    }
    guard let folder = found else {
      let places = folders.map(\.path).joined(separator: " and ")
      throw CommandFailure(
        .ioFailed, "no page in \(places): build it with 'make wasm', or name it with --page FOLDER")
    }
    do {
      options = BrowserOptions(pages: try Self.readPages(in: folder))
    } catch let failure as CommandFailure {
      throw failure
    } catch {
      throw CommandFailure(.ioFailed, "the page in \(folder.path) cannot be read: \(error)")
    }
    options.encryption = certificate.map { .init($0) }
  }

  /// Returns the folders in which the page is looked for: `share/air-hockey` beside the folder of
  /// an installed program and, for a program in a folder `.build`, `.build/page`, where `make wasm`
  /// builds the page.
  static func defaultFolders(of program: URL) -> [URL] {
    let prefix = program.deletingLastPathComponent().deletingLastPathComponent()
    var folders = [prefix.appending(path: "share/air-hockey")]
    let components = program.pathComponents
    if let build = components.lastIndex(of: ".build") {
      let path = NSString.path(withComponents: Array(components[...build]))
      folders.append(URL(filePath: path).appending(path: "page"))
    }
    return folders
  }

  private static func readPages(in folder: URL) throws -> [String: BrowserOptions.Page] {
    var pages: [String: BrowserOptions.Page] = [:]
    for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
      let file = folder.appending(path: name)
      guard let mediaType = mediaTypes[file.pathExtension] else { continue }
      let content = try FileHandle(forReadingFrom: file).read(upToCount: lengthLimit + 1) ?? Data()
      guard content.count <= lengthLimit else {
        throw CommandFailure(
          .ioFailed, "\(file.path) is longer than \(lengthLimit) bytes: it is no part of the page")
      }
      pages["/\(name)"] = .init(Array(content), mediaType: mediaType)
    }
    pages["/"] = pages["/index.html"]
    return pages
  }

  /// Returns the addresses that people type into a browser for a host that listens on `port` of
  /// `interfaces`: each IPv4 address, without those of loopback if there are others. With a
  /// certificate for names, they are used instead. The page finds `code` in the fragment of the
  /// address, which a browser sends to nobody.
  static func addresses(
    on interfaces: [Interface], port: UInt16, certificate: TLSCertificate? = nil,
    code: JoinCode? = nil
  ) -> [String] {
    let isOnLoopback = interfaces.allSatisfy(\.isLoopback)
    let names = certificate?.names.filter { !$0.hasPrefix("*") && $0 != "localhost" } ?? []
    let hosts = interfaces.filter { isOnLoopback || !$0.isLoopback }.flatMap(\.addresses)
      .map(\.address).filter { !$0.isV6 }.map { "\($0)" }
    let (scheme, fragment) = (
      certificate == nil ? "http" : "https", code.map { "#code=\($0.text)" }
    )
    return (names.isEmpty || isOnLoopback ? hosts : names).map {
      "\(scheme)://\($0):\(port)/\(fragment ?? "")"
    }
  }

  /// Protects the encoder, of which a process has one.
  private static let encoder = Locked(())

  /// Returns the QR code with which a phone opens `address`, or nil if the address is too long for
  /// one.
  static func makeCode(of address: String) -> QRCode? {
    encoder.withLock { _ in
      for byte in address.utf8 { cqrcode_append(byte) }
      let size = cqrcode_encode()
      guard size > 0 else { return nil }
      return QRCode(address, size: Int(size)) { cqrcode_is_dark(Int32($0), Int32($1)) }
    }
  }
}

extension URL {
  /// The file of this program.
  static var ownProgram: URL { URL(filePath: "/proc/self/exe").resolvingSymlinksInPath() }
}
