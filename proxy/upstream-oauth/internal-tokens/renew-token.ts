import { refusesUser } from '../../errors/refuses-user.ts';
import { UnavailableError } from '../../errors/unavailable-error.ts';
import { UpstreamAuthError } from '../../errors/upstream-auth-error.ts';
import type { InternalToken } from '../../records/internal-token.ts';
import type { VersionedInternalToken } from '../../store/internal-token-store.ts';
import { type ExtendLease, REST_SECONDS } from '../../store/renewal-lease.ts';
import { retryWhileUnavailable } from '../../store/retry-while-unavailable.ts';
import { upstreamOf } from '../discovery/upstream.ts';
import { TokenRequestError } from '../protocol/token-request-error.ts';
import { refreshTokens } from '../protocol/token-requests.ts';
import type { UpstreamTokens } from '../protocol/upstream-tokens.ts';
import type { UpstreamServer } from '../upstream-authorization.ts';
import type { KeptTokens } from './kept-tokens.ts';
import { refreshedToken } from './make-token.ts';
import { serverOfToken, type TokenServers } from './server-of-token.ts';
import type { InternalTokenUse } from './token-use.ts';

/** Retries for one minute to store the next refresh token: the server may not issue it again. */
const KEEP_RETRIES = { attempts: 240, intervalMs: 250 };

/** Thrown if another request replaced or dropped the token after it was read. */
export class StaleTokenError extends Error {
  override readonly name = 'StaleTokenError';
  /** The token that was refreshed, and that nobody keeps. */
  readonly refreshed?: InternalToken;

  constructor(refreshed?: InternalToken) {
    super('the internal token has changed');
    if (refreshed !== undefined) this.refreshed = refreshed;
  }
}

/** Options of `renewToken`. */
export interface RenewTokenOptions {
  readonly tokens: KeptTokens;
  readonly servers: TokenServers;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/**
 * Refreshes a token that the caller has claimed, and keeps the result. Null if the user must connect again:
 * then the token is dropped.
 *
 * Rejects with a `StaleTokenError` if the caller has lost the claim, and with an `UnavailableError` if the
 * authorization server or the store is unavailable: then nothing is dropped.
 */
export async function renewToken(
  { token, version }: VersionedInternalToken,
  extend: ExtendLease,
  use: InternalTokenUse,
  { tokens, servers, now }: RenewTokenOptions,
): Promise<InternalToken | null> {
  const drop = async (reason: string): Promise<null> => {
    if (!(await tokens.drop(use, reason, version))) throw new StaleTokenError();
    return null;
  };
  const { refreshToken } = token;
  if (refreshToken === undefined) return drop('no-refresh-token');
  const server = await serverOf(token, use, servers);
  if (server === null) return drop('client-unknown');
  // Directly before the token is used: a process may have been paused for longer than its lease, and a
  // server that sees one token twice can revoke every token of the connection.
  if (!(await extend())) throw new StaleTokenError();
  const answer = await answerTo(server, { ...token, refreshToken }, use);
  if (answer.kind === 'over') {
    const { issuer, redirectUri, clientId } = token;
    if (answer.isClientUnknown) await servers.forgetRegistration(issuer, redirectUri, clientId);
    return drop(answer.reason);
  }
  const next = refreshedToken(token, answer.tokens, now());
  const replaced = await retryWhileUnavailable(
    () => tokens.replace(use, next, version),
    KEEP_RETRIES,
  );
  if (!replaced) throw new StaleTokenError(next);
  return next;
}

async function serverOf(
  token: InternalToken,
  use: InternalTokenUse,
  servers: TokenServers,
): Promise<UpstreamServer | null> {
  try {
    return await serverOfToken(token, use, servers);
  } catch (error) {
    throw error instanceof UpstreamAuthError ? cannotRefresh(error) : error;
  }
}

/** What a server answered to a refresh token. */
type RefreshAnswer =
  | { readonly kind: 'tokens'; readonly tokens: UpstreamTokens }
  /** No request with this refresh token will ever succeed. */
  | { readonly kind: 'over'; readonly reason: string; readonly isClientUnknown: boolean };

async function answerTo(
  server: UpstreamServer,
  { refreshToken, resource }: InternalToken & { readonly refreshToken: string },
  { route }: InternalTokenUse,
): Promise<RefreshAnswer> {
  try {
    const sent = upstreamOf(route).oauth.sendsResource ? resource : undefined;
    return { kind: 'tokens', tokens: await refreshTokens(server, refreshToken, sent) };
  } catch (error) {
    if (!(error instanceof TokenRequestError)) throw error;
    const { code = '' } = error;
    // The server knows given clients and metadata documents, or an operator must mend it.
    const isClientUnknown = code === 'invalid_client' && server.client.source === 'registered';
    if (!isClientUnknown && !refusesUser(code)) throw cannotRefresh(error);
    return { kind: 'over', reason: code.replaceAll('_', '-'), isClientUnknown };
  }
}

function cannotRefresh(cause: UpstreamAuthError | TokenRequestError): UnavailableError {
  const message = 'the internal token could not be refreshed';
  return tokensUnavailable(message, cause);
}

/** Returns the error for a request that needs a refresh which is impossible now. */
export function tokensUnavailable(message: string, cause?: unknown): UnavailableError {
  return new UnavailableError('upstream-authorization-unavailable', message, {
    retryAfterSeconds: REST_SECONDS,
    cause,
  });
}
