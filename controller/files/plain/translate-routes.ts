import { isRecord } from '../../../shared/runtime/is-record.ts';
import { CLIENT_SECRET_KEYS, ROUTE_KEYS } from './plain-keys.ts';
import { manifest, type PlainManifest } from './plain-manifest.ts';
import { readSecret, type SecretSource } from './read-secret.ts';
import { routeName } from './route-name.ts';
import { translateCertificate, type TranslatedFiles } from './translate-certificate.ts';
import { translateKeys, type Mapping } from './translate-keys.ts';
import { SECRET_NAME, translateClientSecret, type TranslatedSecrets } from './translate-secret.ts';
import { upstreamOAuthOf } from './upstream-oauth-of.ts';

/** The routes of a plain form. */
export interface TranslatedRoutes {
  readonly manifests: readonly PlainManifest[];
  /** Secrets by key. */
  readonly secrets: Readonly<Record<string, string>>;
}

interface TranslatedRoute {
  readonly manifest: PlainManifest;
  /** Objects that it refers to. */
  readonly manifests: readonly PlainManifest[];
  readonly secrets: TranslatedSecrets['secrets'];
}

const UPSTREAM_OAUTH = {
  field: 'spec.mcp.server.upstreamOauth2',
  written: 'mcp.server.upstream_oauth2',
};

/** Translates the entries of `routes` to Routes. */
export function translateRoutes(routes: unknown, source: SecretSource): TranslatedRoutes {
  if (routes === undefined) return { manifests: [], secrets: {} };
  if (!Array.isArray(routes)) {
    return { manifests: [unreadable('routes', 'must be a list of routes')], secrets: {} };
  }
  const translated = routes.map((route: unknown, index) => translateRoute(route, index, source));
  return {
    manifests: translated.flatMap(({ manifest: route, manifests }) => [...manifests, route]),
    secrets: Object.fromEntries(translated.flatMap(({ secrets }) => Object.entries(secrets))),
  };
}

function translateRoute(route: unknown, index: number, source: SecretSource): TranslatedRoute {
  const written = `routes[${String(index)}]`;
  if (!isRecord(route)) {
    return { manifest: unreadable(written, 'must be a mapping'), manifests: [], secrets: {} };
  }
  const { name = routeName(route) } = route;
  const place = { field: 'spec', written };
  const { fields, origins, problems } = translateKeys(route, ROUTE_KEYS, place, ['name', 'tls']);
  const secret = translateSecret(route, index, source);
  const tls = translateTls(route, index, source);
  const own = [
    { field: '', written },
    { field: 'metadata.name', written: `${written}.name` },
  ];
  return {
    manifest: {
      manifest: manifest('Route', name ?? 'unnamed', {
        spec: {
          ...withSecret(fields, secret.spec),
          ...(tls.ref && { tls: { certificateRefs: [tls.ref] } }),
        },
      }),
      origins: [...own, ...origins, ...secret.origins, ...tls.origins],
      problems: [...problems, ...secret.problems, ...tls.problems],
      ...(typeof name === 'string' ? {} : { unnamed: written }),
    },
    manifests: tls.manifests,
    secrets: secret.secrets,
  };
}

function translateTls({ tls }: Mapping, index: number, source: SecretSource): TranslatedFiles {
  const place = {
    written: `routes[${String(index)}].tls`,
    field: 'spec.tls',
    name: `${SECRET_NAME}-route-${String(index)}-tls`,
  };
  return translateCertificate(tls, place, source);
}

function translateSecret(route: Mapping, index: number, source: SecretSource): TranslatedSecrets {
  const written = `routes[${String(index)}].${UPSTREAM_OAUTH.written}`;
  const secret = readSecret(upstreamOAuthOf(route), CLIENT_SECRET_KEYS, written, source);
  return translateClientSecret(secret, {
    key: `route-${String(index)}`,
    field: UPSTREAM_OAUTH.field,
  });
}

/** Adds the reference to the secret of `mcp.server.upstreamOauth2`, which is there if the secret is. */
function withSecret(fields: Mapping, reference: Mapping): Mapping {
  const { mcp } = fields;
  if (Object.keys(reference).length === 0 || !isRecord(mcp)) return fields;
  const { server } = mcp;
  if (!isRecord(server) || !isRecord(server['upstreamOauth2'])) return fields;
  const upstreamOauth2 = { ...server['upstreamOauth2'], ...reference };
  return { ...fields, mcp: { ...mcp, server: { ...server, upstreamOauth2 } } };
}

function unreadable(path: string, message: string): PlainManifest {
  return { manifest: {}, origins: [], problems: [{ path, message }], unnamed: path };
}
