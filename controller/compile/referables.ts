import type { SecretValues } from '../validate/secret.ts';
import { CertificateDirectory } from './certificates/certificate-directory.ts';
import type { Changes } from './compilation.ts';
import { setOrDelete } from './grouped-map.ts';
import type { ConfigMaps, Secrets } from './resources.ts';

/** The objects that settings refer to. */
export interface SettingsSources {
  readonly secrets: Secrets;
  readonly configMaps: ConfigMaps;
  readonly certificates: CertificateDirectory;
}

/** `namespace/name` of changed Secrets and ConfigMaps. */
export interface ChangedReferables {
  readonly secretNames: readonly string[];
  readonly configMapNames: readonly string[];
}

/** The known Secrets and ConfigMaps, and the certificates in them. */
export class Referables implements SettingsSources {
  readonly secrets = new Map<string, SecretValues>();
  readonly configMaps = new Map<string, ReadonlyMap<string, string>>();
  readonly certificates = new CertificateDirectory(this.secrets);

  /** Applies changes. Returns what changed. */
  apply({ secrets = new Map(), configMaps = new Map() }: Changes): ChangedReferables {
    for (const [name, values] of secrets) setOrDelete(this.secrets, name, values);
    for (const [name, values] of configMaps) setOrDelete(this.configMaps, name, values);
    return { secretNames: [...secrets.keys()], configMapNames: [...configMaps.keys()] };
  }
}

/** Sources without any object. */
export const NO_SOURCES: SettingsSources = new Referables();
