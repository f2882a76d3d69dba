import CTerminal

/// The controlling terminal as a full screen, in raw mode and non-blocking. The terminal is
/// restored when this object is released and when the process exits, crashes or is killed by a
/// signal that can be caught. Only one instance may exist at a time.
final class Terminal {
  /// The error thrown if the terminal cannot be opened.
  struct Unavailable: Error {
    /// The errno of the failed call.
    let code: Int32
  }

  /// Whether standard output is a terminal on which a screen can be drawn, and this process is not
  /// in its background.
  static var isPresent: Bool { cterminal_present() }

  /// Creates the screen: enters raw mode and switches to the alternate screen.
  init() throws(Unavailable) {
    let status = cterminal_open()
    guard status == 0 else { throw Unavailable(code: -status) }
  }

  deinit { cterminal_close() }

  /// Leaves raw mode and the alternate screen.
  func close() { cterminal_close() }

  /// The descriptor that is readable when input has arrived.
  var descriptor: Int32 { cterminal_descriptor() }

  /// The current size of the window in cells; 80 × 24 if it is unknown.
  var size: (columns: Int, rows: Int) {
    let size = cterminal_window()
    guard size.columns > 0, size.rows > 0 else { return (80, 24) }
    return (Int(size.columns), Int(size.rows))
  }

  /// The current size of the window in pixels, or nil if it is unknown.
  var pixels: (width: Int, height: Int)? {
    let size = cterminal_window()
    guard size.pixel_width > 0, size.pixel_height > 0 else { return nil }
    return (Int(size.pixel_width), Int(size.pixel_height))
  }

  /// Calls `body` with every byte of input that has arrived. Returns false if the terminal has been
  /// closed.
  func read(_ body: (UInt8) -> Void) -> Bool {
    while true {
      let byte = cterminal_read()
      guard byte >= 0 else { return byte == -1 }
      body(UInt8(truncatingIfNeeded: byte))
    }
  }

  /// Queues `bytes`, and writes as many queued bytes as the terminal accepts. Returns whether all
  /// were written.
  func write(_ bytes: [UInt8] = []) -> Bool {
    for byte in bytes { cterminal_put(byte) }
    return cterminal_flush() == 0
  }
}
