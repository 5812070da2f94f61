import { CLUSTER_ISSUER_URL } from '../../../shared/snapshot/cluster-issuer-url.ts';
import type { CompiledIdentityProvider } from '../../../shared/snapshot/snapshot.ts';
import type { ClusterIssuer, ClusterIssuerReading } from '../../kubernetes/cluster-issuer.ts';
import { memberPath } from '../../validate/field-path.ts';
import type { Problem } from '../../validate/problem.ts';

/** What is known of the issuer of the cluster; `assumed` if it has no keys, for checks only. */
export type KnownClusterIssuer = ClusterIssuerReading | 'assumed';

/** The identity providers that can serve, and why others cannot. */
export interface ResolvedProviders {
  readonly providers: readonly CompiledIdentityProvider[];
  readonly problems: readonly Problem[];
}

/**
 * Gives the provider of the cluster the issuer and the keys of the API server. If it cannot be used, it is
 * left out, and the others serve: the settings are valid, and the cluster may change.
 */
export function resolveClusterIssuer(
  providers: readonly CompiledIdentityProvider[],
  reading: KnownClusterIssuer,
): ResolvedProviders {
  const index = providers.findIndex(({ issuer }) => issuer === CLUSTER_ISSUER_URL);
  const provider = providers[index];
  if (provider === undefined) return { providers, problems: [] };
  const others = providers.filter((other) => other !== provider);
  if (reading === 'assumed') {
    return { providers: providers.with(index, { ...provider, keys: [] }), problems: [] };
  }
  const { known, failure } = reading;
  const path = memberPath('spec.identityProviders', index);
  if (known === undefined) {
    const message = `the API server does not say who issues its tokens: ${failure ?? 'it does not answer'}`;
    return { providers: others, problems: [problemAt(`${path}.issuerUrl`, message)] };
  }
  const obstacle = obstacleOf(provider, path, { others, known });
  if (obstacle !== undefined) return { providers: others, problems: [obstacle] };
  const { issuer, keys } = known;
  return {
    providers: providers.with(index, { ...provider, issuer, keys }),
    problems:
      failure === undefined
        ? []
        : [problemAt(`${path}.issuerUrl`, `its keys may be outdated: ${failure}`)],
  };
}

function obstacleOf(
  { audiences = [] }: CompiledIdentityProvider,
  path: string,
  cluster: {
    readonly others: readonly CompiledIdentityProvider[];
    readonly known: ClusterIssuer;
  },
): Problem | undefined {
  const { issuer, apiAudiences } = cluster.known;
  // Attack: every pod has a token for the API server, and whoever gets one sent could use it there.
  const index = audiences.findIndex((audience) => apiAudiences.includes(audience));
  if (index !== -1) {
    const message = 'is an audience of the API server itself; use one that only this gateway has';
    return problemAt(memberPath(`${path}.audiences`, index), message);
  }
  const same = cluster.others.find((other) => other.issuer === issuer);
  if (same === undefined) return undefined;
  return problemAt(`${path}.issuerUrl`, `is ${issuer}, which is the issuer of ${same.name} too`);
}

function problemAt(path: string, message: string): Problem {
  return { path, reason: 'ClusterIssuerNotUsable', message };
}
