import CTerminal

/// The terminal that the program runs in, as a screen: raw, never blocking, and put back when this
/// is dropped, when the process exits and when it is killed or crashes. One at a time.
final class Terminal {
  /// Why there is none.
  struct Unavailable: Error {
    /// The system's error number.
    let code: Int32
  }

  /// Whether there is a terminal to draw on.
  static var isPresent: Bool { cterminal_present() }

  /// Takes the screen.
  init() throws(Unavailable) {
    let status = cterminal_open()
    guard status == 0 else { throw Unavailable(code: -status) }
  }

  deinit { cterminal_close() }

  /// Puts the terminal back as it was.
  func close() { cterminal_close() }

  /// Cells in a row, and rows, as the window is now; 80 × 24 where it does not tell.
  var size: (columns: Int, rows: Int) {
    let size = cterminal_window()
    guard size.columns > 0, size.rows > 0 else { return (80, 24) }
    return (Int(size.columns), Int(size.rows))
  }

  /// The window's pixels, where they are known.
  var pixels: (width: Int, height: Int)? {
    let size = cterminal_window()
    guard size.pixel_width > 0, size.pixel_height > 0 else { return nil }
    return (Int(size.pixel_width), Int(size.pixel_height))
  }

  /// Gives every byte that was typed to `body`. False when the terminal is gone.
  func read(_ body: (UInt8) -> Void) -> Bool {
    while true {
      let byte = cterminal_read()
      guard byte >= 0 else { return byte == -1 }
      body(UInt8(truncatingIfNeeded: byte))
    }
  }

  /// Writes what the terminal takes now. Whether all is written.
  func write(_ bytes: [UInt8] = []) -> Bool {
    for byte in bytes { cterminal_put(byte) }
    return cterminal_flush() == 0
  }
}
