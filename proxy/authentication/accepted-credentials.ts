import type { CompiledRoute } from '../../shared/snapshot/snapshot.ts';
import { oncePerObject } from '../cache/once-per-object.ts';
import type { Configuration } from '../configuration/configuration.ts';
import type { InterpretingFormat, TokenExpectation } from '../token-verification/token-verifier.ts';

/** What a token of an identity provider must be, on the routes that accept such tokens. */
export interface TokenUse extends TokenExpectation {
  /** Two uses with one key accept the same tokens. Without a final space. */
  readonly key: string;
}

/** The credentials that a route accepts. */
export type AcceptedCredentials =
  | { readonly kind: 'nothing' | 'external-token' | 'session-cookie' }
  | {
      readonly kind: 'bearer-token';
      readonly use: TokenUse;
      /** Whether the gateway's own external tokens are accepted too. */
      readonly orExternalToken: boolean;
    };

/** The parts of a configuration that decide what is accepted. */
export type AcceptanceSettings = Pick<Configuration, 'settings' | 'identityProviders'>;

/**
 * Returns the credentials that a route accepts, by its kind and its effective bearer token format. Decided
 * once for each configuration and route, because every request asks.
 *
 * | Format           | Public route | MCP server route                             | Web route                |
 * | ---------------- | ------------ | -------------------------------------------- | ------------------------ |
 * | `default`        | nothing      | an external token                            | the session cookie       |
 * | any other format | nothing      | an external token, or a token of this format | a token of this format   |
 *
 * Routes with `mcp.client` always have the format `default`. MCP server routes never accept a cookie: browsers
 * attach cookies to requests that other sites make.
 */
export function acceptedCredentials(
  route: CompiledRoute,
  configuration: AcceptanceSettings,
): AcceptedCredentials {
  return acceptedUnder(configuration)(route);
}

const acceptedUnder = oncePerObject((configuration: AcceptanceSettings) =>
  oncePerObject((route: CompiledRoute) => decide(route, configuration)),
);

function decide(route: CompiledRoute, configuration: AcceptanceSettings): AcceptedCredentials {
  if (route.access.kind === 'public') return { kind: 'nothing' };
  const isMcpServer = route.mcpServer !== undefined;
  const format = route.bearerTokenFormat ?? configuration.settings.bearerTokenFormat ?? 'default';
  if (format === 'default') return { kind: isMcpServer ? 'external-token' : 'session-cookie' };
  const use = tokenUse(format, route, configuration);
  return { kind: 'bearer-token', use, orExternalToken: isMcpServer };
}

function tokenUse(
  format: InterpretingFormat,
  route: CompiledRoute,
  { settings, identityProviders }: AcceptanceSettings,
): TokenUse {
  if (format === 'jwt') return { format, key: format };
  const provider = identityProviders.ofRoute(route)?.name ?? '';
  if (format === 'idp_identity_token') return { format, provider, key: `${format} ${provider}` };
  const allowedAudiences =
    route.idpAccessTokenAllowedAudiences ?? settings.idpAccessTokenAllowedAudiences;
  const audiences = allowedAudiences === undefined ? {} : { allowedAudiences };
  const key = `${format} ${provider} ${JSON.stringify(allowedAudiences ?? 'own client')}`;
  return { format, provider, ...audiences, key };
}
