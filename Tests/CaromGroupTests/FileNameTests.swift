import CaromGroup
import Testing

@Suite struct FileNameTests {
  @Test(arguments: [
    "a", "report.pdf", "holiday photo (1).jpg", "Ünïcödé 📷.png", "a..b", "trailing.", "~", "-rf",
    String(repeating: "x", count: 255),
  ])
  func `an ordinary name is valid`(text: String) {
    #expect(FileName(text)?.text == text)
  }

  @Test(arguments: [
    "", ".", "..", ".bashrc", ".carom-0.part", "a/b", "/etc/passwd", "../x", "a\\b", "..\\x",
    "a/\u{301}b", "nul\u{0}", "line\nfeed", "\u{1B}[2J", "\u{7F}", "\u{85}", "exe\u{202E}gpj.x",
    "a\u{2028}b", String(repeating: "x", count: 256), String(repeating: "é", count: 128),
  ])
  func `a name that leaves its folder, hides or deceives is not valid`(text: String) {
    #expect(FileName(text) == nil)
  }

  @Test func `the number of a copy stands before the extension`() throws {
    #expect(try #require(FileName("photo.jpg")).numbered(2).text == "photo (2).jpg")
    #expect(try #require(FileName("Makefile")).numbered(3).text == "Makefile (3)")
    #expect(try #require(FileName("a.tar.gz")).numbered(2).text == "a.tar (2).gz")
  }

  @Test func `a numbered name is not longer than a name may be`() throws {
    let long = try #require(FileName(String(repeating: "é", count: 125) + ".jpg"))
    let numbered = long.numbered(12)
    #expect(numbered.text.utf8.count <= FileName.maximumLength)
    #expect(numbered.text.hasSuffix(" (12).jpg"))
    let extensionOnly = try #require(FileName("a." + String(repeating: "x", count: 253)))
    #expect(extensionOnly.numbered(2).text == "file (2)")
  }
}
