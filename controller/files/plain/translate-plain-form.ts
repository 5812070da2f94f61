import { REFERABLE_LABEL } from '../../validate/secret.ts';
import type { SecretFiles } from './secret-files.ts';
import { manifest, NAMESPACE, type PlainManifest } from './plain-manifest.ts';
import type { Mapping } from './translate-keys.ts';
import { translateRoutes } from './translate-routes.ts';
import { SECRET_NAME } from './translate-secret.ts';
import { translateSettings } from './translate-settings.ts';

const SETTINGS_NAME = 'gatehouse';

/** The name of the GatewaySettings of a plain form in problems. */
export const SETTINGS_RESOURCE = `GatewaySettings ${NAMESPACE}/${SETTINGS_NAME}`;

/** GatewaySettings without content. */
export const EMPTY_SETTINGS: Mapping = manifest('GatewaySettings', SETTINGS_NAME, { spec: {} });

/** Translates a plain form to resources: settings, routes, and what they refer to. */
export function translatePlainForm(
  plain: Mapping,
  file: string,
  secretFiles: SecretFiles,
): readonly PlainManifest[] {
  const source = { file, secretFiles };
  const { spec, secrets, origins, problems, manifests = [] } = translateSettings(plain, source);
  const routes = translateRoutes(plain['routes'], source);
  const all = { ...secrets, ...routes.secrets };
  const settings = { manifest: manifest('GatewaySettings', SETTINGS_NAME, { spec }) };
  const secret = { manifest: secretManifest(all), origins: [], problems: [] };
  return [
    { ...settings, origins, problems },
    ...(Object.keys(all).length > 0 ? [secret] : []),
    ...manifests,
    ...routes.manifests,
  ];
}

function secretManifest(stringData: Readonly<Record<string, string>>): Mapping {
  const labels = { [REFERABLE_LABEL]: 'true' };
  const metadata = { name: SECRET_NAME, namespace: NAMESPACE, labels };
  return { apiVersion: 'v1', kind: 'Secret', metadata, stringData };
}
