/** One thing wrong with a resource. Problems are returned and never thrown. */
export interface Problem {
  /** Where in the resource: `spec.policy.allow.or[0]`; empty if it is about the whole resource. */
  readonly path: string;
  /** One CamelCase word, as in status conditions. */
  readonly reason: ProblemReason;
  readonly message: string;
}

/** A problem with the resource that has it. */
export interface ResourceProblem extends Problem {
  /** The name of the resource, `Route team-a/files`, or its place in the input if it has no name. */
  readonly resource: string;
}

/** The kinds of problems. */
export type ProblemReason =
  | 'InvalidManifest'
  | 'InvalidSpec'
  | 'InvalidPolicy'
  | 'InvalidRegex'
  | 'HostConflict'
  | 'HostNotAllowed'
  | 'NotAllowedByGateway'
  | 'UnsupportedValue'
  | 'SettingsNotFound'
  | 'SecretNotFound'
  | 'SecretNotReferable'
  | 'InvalidSecret'
  | 'CertificateNotForHost'
  | 'ConfigMapNotFound'
  | 'InvalidConfigMap'
  | 'IdentityProviderNotFound'
  | 'ClusterIssuerNotUsable'
  | 'TracingNotUsable'
  | 'BackendNotFound'
  | 'RefNotPermitted'
  | 'InvalidKind';
