import type {
  BearerTokenFormat,
  CompiledIdentityProvider,
} from '../../../shared/snapshot/snapshot.ts';

/** What the check of bearer token formats has to know of an identity provider. */
export interface ProviderFacts extends Pick<CompiledIdentityProvider, 'name' | 'type' | 'signIn'> {
  /** Whether users can sign in there. */
  readonly hasClient: boolean;
  /** Whether the format `jwt` accepts its tokens. */
  readonly hasAudiences: boolean;
}

/** A format, and what it is used with. */
export interface FormatUse {
  readonly format: BearerTokenFormat;
  /** The provider whose tokens the formats `idp_*` accept. */
  readonly provider: ProviderFacts | undefined;
  readonly providers: readonly ProviderFacts[];
  /** Whether there is a list of allowed audiences. */
  readonly hasAllowedAudiences: boolean;
}

/** Returns what the check of formats has to know of a provider. */
export function providerFacts(provider: CompiledIdentityProvider): ProviderFacts {
  const { name, type, signIn, clientId, audiences } = provider;
  const facts = { name, signIn, hasClient: clientId !== undefined };
  return { ...facts, ...(type && { type }), hasAudiences: audiences !== undefined };
}

/** Returns why a format cannot be used; undefined if it can. */
export function bearerTokenFormatProblem(use: FormatUse): string | undefined {
  switch (use.format) {
    case 'default':
      return undefined;
    case 'jwt':
      if (use.providers.some(({ hasAudiences }) => hasAudiences)) return undefined;
      return 'jwt needs an identity provider with audiences, and the settings have no valid one';
    case 'idp_access_token':
      return accessTokenProblem(use);
    case 'idp_identity_token':
      if (use.provider?.type !== 'github') return providerProblem(use);
      return `idp_identity_token cannot be used with ${use.provider.name}: GitHub has no identity tokens`;
  }
}

function accessTokenProblem(use: FormatUse): string | undefined {
  const { provider, hasAllowedAudiences } = use;
  if (provider?.type === 'apple') {
    return `idp_access_token cannot be used with ${provider.name}: Apple has no access tokens for others`;
  }
  if (provider?.type === 'github' && hasAllowedAudiences) {
    return `idpAccessTokenAllowedAudiences cannot be used with ${provider.name}: access tokens of GitHub have no audience`;
  }
  return providerProblem(use);
}

function providerProblem({ format, provider }: FormatUse): string | undefined {
  if (provider !== undefined) return undefined;
  return `${format} needs an identity provider where users sign in, and the settings have no valid one`;
}
