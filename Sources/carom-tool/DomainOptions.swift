import ArgumentParser

/// The domain to look for services in, as an argument or as an option.
struct DomainOptions: ParsableArguments {
  @Argument(
    help: ArgumentHelp(
      "The domain, by default local; all other domains are queried at name servers.",
      valueName: "domain"))
  var domainArgument: String?
  @Option(help: "The same as DOMAIN.") var domain: String?
}
