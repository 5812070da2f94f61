import { API_VERSION } from '../../../crds/crd-schema.ts';
import { isRecord } from '../../../shared/runtime/is-record.ts';
import type { SourcePlace } from '../origins.ts';
import { ROUTE_KEYS } from './plain-keys.ts';
import { routeName } from './route-name.ts';
import { REFERABLE_LABEL } from '../../validate/secret.ts';
import type { SecretFiles } from './secret-files.ts';
import { translateKeys, type Mapping, type PlainProblem } from './translate-keys.ts';
import { SECRET_NAME, translateSettings } from './translate-settings.ts';

const NAMESPACE = 'default';
const SETTINGS_NAME = 'gatehouse';

/** The name of the GatewaySettings of a plain form in problems. */
export const SETTINGS_RESOURCE = `GatewaySettings ${NAMESPACE}/${SETTINGS_NAME}`;

/** A resource of a plain form, not validated yet. */
export interface PlainManifest {
  readonly manifest: Mapping;
  readonly origins: readonly SourcePlace[];
  readonly problems: readonly PlainProblem[];
  /** The path of a route without a name that can be read or derived. */
  readonly unnamed?: string;
}

/** GatewaySettings without content. */
export const EMPTY_SETTINGS: Mapping = manifest('GatewaySettings', SETTINGS_NAME, { spec: {} });

/** Translates a plain form to resources: settings, their Secret, and routes. */
export function translatePlainForm(
  plain: Mapping,
  file: string,
  secretFiles: SecretFiles,
): readonly PlainManifest[] {
  const { spec, secrets, origins, problems } = translateSettings(plain, { file, secretFiles });
  const settings = { manifest: manifest('GatewaySettings', SETTINGS_NAME, { spec }) };
  const secret = { manifest: secretManifest(secrets), origins: [], problems: [] };
  return [
    { ...settings, origins, problems },
    ...(Object.keys(secrets).length > 0 ? [secret] : []),
    ...translateRoutes(plain['routes']),
  ];
}

function translateRoutes(routes: unknown): readonly PlainManifest[] {
  if (routes === undefined) return [];
  if (!Array.isArray(routes)) return [unreadable('routes', 'must be a list of routes')];
  return routes.map((route: unknown, index) => {
    const written = `routes[${String(index)}]`;
    return isRecord(route)
      ? translateRoute(route, written)
      : unreadable(written, 'must be a mapping');
  });
}

function translateRoute(route: Mapping, written: string): PlainManifest {
  const { name = routeName(route) } = route;
  const place = { field: 'spec', written };
  const { fields, origins, problems } = translateKeys(route, ROUTE_KEYS, place, ['name']);
  const own = [
    { field: '', written },
    { field: 'metadata.name', written: `${written}.name` },
  ];
  return {
    manifest: manifest('Route', name ?? 'unnamed', { spec: fields }),
    origins: [...own, ...origins],
    problems,
    ...(typeof name === 'string' ? {} : { unnamed: written }),
  };
}

function unreadable(path: string, message: string): PlainManifest {
  return { manifest: {}, origins: [], problems: [{ path, message }], unnamed: path };
}

function secretManifest(stringData: Readonly<Record<string, string>>): Mapping {
  const labels = { [REFERABLE_LABEL]: 'true' };
  const metadata = { name: SECRET_NAME, namespace: NAMESPACE, labels };
  return { apiVersion: 'v1', kind: 'Secret', metadata, stringData };
}

function manifest(kind: string, name: unknown, content: Mapping): Mapping {
  return { apiVersion: API_VERSION, kind, metadata: { name, namespace: NAMESPACE }, ...content };
}
