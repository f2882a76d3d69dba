/// The version of Carom. The changelog has a section for each released version.
package enum ProjectVersion {
  /// The version number that Carom's programs print.
  package static let text = "0.2.0"
}
