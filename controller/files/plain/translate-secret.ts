import type { PlainManifest } from './plain-manifest.ts';
import type { SourcePlace } from '../origins.ts';
import type { ReadSecret } from './read-secret.ts';
import type { Mapping, PlainProblem } from './translate-keys.ts';

/** The name of the Secret with the secrets of a plain form. */
export const SECRET_NAME = 'gatehouse';

/** Fields of a resource, with the secrets that they refer to. */
export interface TranslatedSecrets {
  readonly spec: Mapping;
  /** Secrets by key. */
  readonly secrets: Readonly<Record<string, string>>;
  readonly origins: readonly SourcePlace[];
  readonly problems: readonly PlainProblem[];
  /** Further objects that the fields refer to. */
  readonly manifests?: readonly PlainManifest[];
}

/** Translates a client secret to a reference to the key `key` of the Secret, below `field`. */
export function translateClientSecret(
  secret: ReadSecret,
  { key, field }: { readonly key: string; readonly field: string },
): TranslatedSecrets {
  switch (secret.kind) {
    case 'absent':
      return { spec: {}, secrets: {}, origins: [], problems: [] };
    case 'problem':
      return { spec: {}, secrets: {}, origins: [], problems: [secret.problem] };
    case 'secret':
      return {
        spec: { clientSecretRef: { name: SECRET_NAME, key } },
        secrets: { [key]: secret.value },
        origins: [{ field: `${field}.clientSecretRef`, written: secret.key }],
        problems: [],
      };
  }
}
