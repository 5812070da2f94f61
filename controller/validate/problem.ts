/** One thing wrong with a manifest or a resource. All are reported, none is thrown. */
export interface Problem {
  /** The resource as people name it: `Route team-a/files`; the document's place when it has none. */
  readonly resource: string;
  /** Where in the resource: `spec.policy.allow.or[0]`; empty for the whole of it. */
  readonly path: string;
  /** One CamelCase word, as in status conditions. */
  readonly reason: ProblemReason;
  readonly message: string;
}

export type ProblemReason =
  | 'InvalidManifest'
  | 'InvalidSpec'
  | 'InvalidPolicy'
  | 'InvalidRegex'
  | 'HostConflict'
  | 'NotAllowedByGateway'
  | 'UnsupportedValue'
  | 'SettingsNotFound'
  | 'SecretNotFound'
  | 'InvalidSecret'
  | 'IdentityProviderNotFound'
  | 'BackendNotFound'
  | 'RefNotPermitted'
  | 'InvalidKind';
