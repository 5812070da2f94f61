import { CompilerCluster, settingsSpec } from '../../../../support/compiler-cluster.ts';

/** The secret of the identity provider. */
export const SECRET = 'hunter-2-is-secret';
/** The name of the Secret. */
export const NAME = 'gatehouse/idp';

/** A route that needs sign-in. */
export const ROUTE = {
  from: 'https://a.example.com',
  to: 'http://up',
  allowAnyAuthenticatedUser: true,
};

/** Settings whose identity provider has a secret. */
export function withSecret(change: object = {}): object {
  const clientSecretRef = { name: 'idp', key: 'secret' };
  const [provider] = settingsSpec().identityProviders ?? [];
  return { identityProviders: [{ ...provider, clientSecretRef }], ...change };
}

/** A change of a Secret; undefined deletes it. */
export function secret(
  value: string | undefined,
  name = NAME,
): { secrets: Map<string, Map<string, Buffer> | undefined> } {
  const values = value === undefined ? undefined : new Map([['secret', Buffer.from(value)]]);
  return { secrets: new Map([[name, values]]) };
}

/** A cluster whose settings have a secret, with a route. */
export function started(): CompilerCluster {
  const cluster = new CompilerCluster();
  cluster.change(secret(SECRET));
  cluster.putSettings(withSecret());
  cluster.put({ 'x/app': ROUTE });
  return cluster;
}

/** The client secret that is published. */
export function clientSecret(cluster: CompilerCluster): unknown {
  const value = cluster.snapshot.get('identity-provider/idp')?.value;
  return value?.kind === 'identity-provider' ? value.clientSecret : undefined;
}

/** The lifetime of cookies that is published. */
export function cookieSeconds(cluster: CompilerCluster): unknown {
  const value = cluster.snapshot.get('settings')?.value;
  return value?.kind === 'settings' ? value.cookie.expirationSeconds : undefined;
}
