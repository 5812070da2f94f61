import type { GatewaySettings } from '../../../crds/types.ts';
import type { CompiledIdentityProvider, GroupsLookup } from '../../../shared/snapshot/snapshot.ts';
import { combine, andThen, made, invalid, type CompileResult } from '../compile-result.ts';
import { resolveSecret } from '../resolve-secret.ts';
import type { ConfigMaps, Secrets } from '../resources.ts';
import { resolveAuthorities } from './certificate-authorities.ts';
import { compileSecureUrl } from '../secure-url.ts';
import { CLUSTER_ISSUER_URL } from '../../../shared/snapshot/cluster-issuer-url.ts';
import { githubApiUrl } from './github-api-url.ts';

/** An identity provider as the settings describe it. */
export type Provider = NonNullable<GatewaySettings['spec']['identityProviders']>[number];

/** Everything besides the provider that its compilation depends on. */
export interface ProviderContext {
  /** The place of the provider in the settings. */
  readonly path: string;
  /** Namespace of the settings. */
  readonly namespace: string;
  readonly secrets: Secrets;
  readonly configMaps: ConfigMaps;
  readonly devAllowLoopback: boolean;
  /** Whether there may be a cluster with ServiceAccounts. */
  readonly hasCluster: boolean;
  /** Whether users sign in at this provider unless their route names another. */
  readonly signIn: boolean;
}

type Place = Pick<CompiledIdentityProvider, 'issuer' | 'apiUrl'>;

const APPLE = 'https://appleid.apple.com';
const GITHUB = 'https://github.com';

/** Compiles one identity provider with its client secret. */
export function compileIdentityProvider(
  provider: Provider,
  context: ProviderContext,
): CompileResult<CompiledIdentityProvider> {
  const { type = 'oidc', clientSecretRef, groupsLookup, jwksUrl, caRef } = provider;
  const { path } = context;
  const parts = combine({
    place: compilePlace(provider, context),
    clientSecret:
      clientSecretRef === undefined
        ? made(undefined)
        : resolveSecret(clientSecretRef, { ...context, path: `${path}.clientSecretRef` }),
    groupsLookup:
      groupsLookup === undefined ? made(undefined) : compileLookup(groupsLookup, context),
    certificateAuthorities:
      caRef === undefined ? made(undefined) : resolveAuthorities(caRef, context),
    jwksUrl: jwksUrl === undefined ? made(undefined) : compileUrl(jwksUrl, 'jwksUrl', context),
  });
  return andThen(parts, ({ place, ...rest }) =>
    made({
      kind: 'identity-provider' as const,
      name: provider.name,
      ...(type !== 'oidc' && { type }),
      ...place,
      signIn: context.signIn,
      ...copied(provider),
      ...present(rest),
    }),
  );
}

/** Where the provider is. Tokens name the issuer byte for byte, so that it is kept as it is written. */
function compilePlace(
  { type, issuerUrl }: Provider,
  context: ProviderContext,
): CompileResult<Place> {
  if (issuerUrl === CLUSTER_ISSUER_URL) return compileClusterIssuer(context);
  if (type === 'github') return compileGitHub(issuerUrl ?? GITHUB, context);
  const issuer = compileUrl(issuerUrl ?? APPLE, 'issuerUrl', context);
  return andThen(issuer, (url) => made({ issuer: url }));
}

function compileClusterIssuer({ path, hasCluster }: ProviderContext): CompileResult<Place> {
  if (hasCluster) return made({ issuer: CLUSTER_ISSUER_URL });
  const message =
    'is only for Kubernetes, where the controller asks the API server for issuer and keys; use the issuer of the cluster, with jwksUrl';
  return invalid(`${path}.issuerUrl`, 'UnsupportedValue', message);
}

function compileGitHub(address: string, context: ProviderContext): CompileResult<Place> {
  return andThen(compileUrl(address, 'issuerUrl', context), (checked) => {
    const { origin, pathname } = new URL(checked);
    if (pathname === '/') return made({ issuer: origin, apiUrl: githubApiUrl(origin) });
    const message = 'must be the address of a GitHub host, without a path';
    return invalid(`${context.path}.issuerUrl`, 'UnsupportedValue', message);
  });
}

function compileUrl(
  written: string,
  field: string,
  { path, devAllowLoopback }: ProviderContext,
): CompileResult<string> {
  return compileSecureUrl(written, `${path}.${field}`, devAllowLoopback);
}

function compileLookup(
  { url, groupsPath, nextPage = '@odata.nextLink' }: NonNullable<Provider['groupsLookup']>,
  context: ProviderContext,
): CompileResult<GroupsLookup> {
  return andThen(compileUrl(url, 'groupsLookup.url', context), (checked) =>
    made({ url: checked, groupsPath: groupsPath.split('/'), nextPage }),
  );
}

function copied(
  provider: Provider,
): Omit<CompiledIdentityProvider, 'kind' | 'name' | 'issuer' | 'signIn'> {
  const { clientId, scopes, authorizationParams = {}, groupsClaim, audiences } = provider;
  return {
    authorizationParams,
    ...present({ clientId, scopes, audiences }),
    ...(groupsClaim !== undefined && { groupsClaim: claimPath(groupsClaim) }),
    ...(provider.requireVerifiedEmail === true && { requireVerifiedEmail: true }),
    ...(provider.accessTokenType === 'jwt' && { accessTokenType: 'jwt' }),
  };
}

/** A claim that is named by a URL, as some providers demand, has slashes that separate nothing. */
function claimPath(written: string): readonly string[] {
  return written.includes('://') ? [written] : written.split('/');
}

/** The members that are not undefined. */
function present<Members extends object>(members: Members): Present<Members> {
  const entries = Object.entries(members).filter(([, value]) => value !== undefined);
  // The members that are left out are those that may be undefined.
  return Object.fromEntries(entries) as Present<Members>;
}

type Present<Members> = { readonly [Name in keyof Members]?: Exclude<Members[Name], undefined> };
