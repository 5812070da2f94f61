import type { Route } from '../../../crds/types.ts';
import type { CompiledUpstreamClient } from '../../../shared/snapshot/compiled-upstream-oauth.ts';
import type { CompiledRoute } from '../../../shared/snapshot/snapshot.ts';
import type { Problem } from '../../validate/problem.ts';
import { namespaceOf, type Secrets } from '../resources.ts';
import { resolveSecret } from '../resolve-secret.ts';
import type { CertificateSources } from './route-certificates.ts';

/** The reference of a route to the client secret for its upstream. */
export interface ClientSecretRef {
  /** The namespace of the route, and of the Secret. */
  readonly namespace: string;
  readonly name: string;
  readonly key: string;
}

/** A resolved client secret. The route serves all the same if it cannot be used. */
export interface ResolvedClientSecret {
  readonly client: Pick<CompiledUpstreamClient, 'secret' | 'lacksSecret'>;
  readonly problems: readonly Problem[];
}

const PATH = 'spec.mcp.server.upstreamOauth2.clientSecretRef';

/** A route without a client secret: its client is public, if it has one. */
export const NO_CLIENT_SECRET: ResolvedClientSecret = { client: {}, problems: [] };

/** Reads the reference of a route; undefined if it has none. */
export function readClientSecretRef(route: Route): ClientSecretRef | undefined {
  const ref = route.spec.mcp?.server?.upstreamOauth2?.clientSecretRef;
  // Attack: with a namespace of its own choice, a route could send the secret of others to its token URL.
  return ref && { namespace: namespaceOf(route), ...ref };
}

/** `namespace/name` of the Secret. */
export function secretNameOf({ namespace, name }: ClientSecretRef): string {
  return `${namespace}/${name}`;
}

/** The Secrets that routes may refer to. */
export interface ReferableSecrets extends CertificateSources {
  readonly known: Secrets;
  /** Whether one that is not there counts as no problem, to find out what does not depend on it. */
  readonly areAssumed: boolean;
}

/** Resolves a reference. */
export function resolveClientSecret(
  ref: ClientSecretRef,
  { known: secrets, areAssumed }: Pick<ReferableSecrets, 'known' | 'areAssumed'>,
): ResolvedClientSecret {
  if (areAssumed && !secrets.has(secretNameOf(ref))) {
    return { client: { lacksSecret: true }, problems: [] };
  }
  const resolved = resolveSecret(ref, { namespace: ref.namespace, path: PATH, secrets });
  if (resolved.kind === 'made') return { client: { secret: resolved.value }, problems: [] };
  return { client: { lacksSecret: true }, problems: resolved.problems };
}

/** Adds the client secret to a compiled route. */
export function withClientSecret(
  route: CompiledRoute,
  { client }: ResolvedClientSecret,
): CompiledRoute {
  const { mcpServer } = route;
  const { upstreamOAuth } = mcpServer ?? {};
  if (mcpServer === undefined || upstreamOAuth?.client === undefined) return route;
  return {
    ...route,
    mcpServer: {
      ...mcpServer,
      upstreamOAuth: { ...upstreamOAuth, client: { ...upstreamOAuth.client, ...client } },
    },
  };
}
