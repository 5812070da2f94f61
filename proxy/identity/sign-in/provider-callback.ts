import { hashToken, randomToken } from '../../crypto/tokens.ts';
import { SignInFailedError } from '../../errors/authentication-errors.ts';
import { expiredCookie, signInCookieName } from '../../http/cookies.ts';
import { limitUser } from '../../endpoints/limit-rate.ts';
import type { EndpointContext } from '../../endpoints/endpoint.ts';
import type { GatewayResponse } from '../../http/gateway-response.ts';
import { isSignInTarget } from './authenticate-host.ts';
import { beginBrowserSession } from './begin-browser-session.ts';
import { createSession } from '../session/create-session.ts';
import { withCookies } from '../../http/responses.ts';
import { consumeChecked } from '../../store/consume-checked.ts';
import { finishSignIn } from './finish-sign-in.ts';
import { identify } from '../../identity-provider/identity-provider.ts';
import { isBoundBrowser } from './sign-in-cookies.ts';
import { providerFailure, unusableClaims } from '../../identity-provider/provider-failure.ts';
import { requireIdentityProvider } from '../../identity-provider/require-identity-provider.ts';
import type { Identity, Session } from '../../records/session.ts';
import type { PendingSignIn } from '../../records/pending-sign-in.ts';
import type { SignInOptions } from './sign-in-options.ts';

/** A user who signed in, and the provider's refresh token if it issued one. */
interface SignedInUser {
  readonly identity: Identity;
  readonly refreshToken?: string;
}

/**
 * `GET /.gateway/callback` at the authenticate host: receives the response of the identity provider,
 * creates the session, signs the browser in at this host, and sends it back to its target.
 */
export async function receiveProviderAnswer(
  state: string,
  context: EndpointContext,
  options: SignInOptions,
): Promise<GatewayResponse> {
  const pending = await consumePending(state, context, options);
  const answer = await askProvider(pending, state, context, options);
  await limitUser(options.stores.rateLimits, 'sign-in', answer.identity);
  const session = await beginSession(answer, context, options);
  const sessionCookie = await beginBrowserSession(session, context, options);
  const response = await finishSignIn(session, pending, context, options);
  return withCookies(response, [sessionCookie, ...endedSignIns(pending, context)]);
}

async function consumePending(
  state: string,
  context: EndpointContext,
  { stores }: SignInOptions,
): Promise<PendingSignIn> {
  const pending = await consumeChecked(stores.pendingSignIns, hashToken(state), (found) => {
    // Attack: login CSRF (RFC 6749, 10.12). One browser's sign-in must not sign in another browser.
    if (!isBoundBrowser(context.origin, context.cookies, found.authenticateHash)) {
      throw new SignInFailedError('other-browser', 'the sign-in was begun in another browser');
    }
  });
  if (pending === null) {
    throw new SignInFailedError('unknown-state', 'the state is unknown, expired or used');
  }
  if (!isSignInTarget(pending.targetOrigin, context)) {
    throw new SignInFailedError('unknown-target', 'no live route signs users in at the target');
  }
  return pending;
}

async function askProvider(
  pending: PendingSignIn,
  state: string,
  { origin, configuration, request }: EndpointContext,
  { discovery }: SignInOptions,
): Promise<SignedInUser> {
  const startAgainUrl = pending.targetOrigin + pending.returnPath;
  const provider = requireIdentityProvider(configuration);
  // Attack: mix-up (RFC 9700, section 4.4). A code is sent only to the provider that issued it.
  if (provider.name !== pending.provider || provider.issuer !== pending.issuer) {
    const message = 'the identity provider changed during the sign-in';
    throw new SignInFailedError('other-provider', message, { startAgainUrl });
  }
  const url = new URL(origin + request.path + request.query);
  const secrets = { ...pending, state };
  const answer = await identify(provider, discovery, url, secrets).catch((error: unknown) => {
    throw providerFailure(error, startAgainUrl);
  });
  const { claimed, ...others } = answer;
  if (claimed.kind === 'identity') return { identity: claimed.identity, ...others };
  throw unusableClaims(claimed.reason, provider.name, startAgainUrl);
}

/** Creates the sign-in, which lives at least as long as its session, and then the session. */
async function beginSession(
  { identity, refreshToken }: SignedInUser,
  context: EndpointContext,
  options: SignInOptions,
): Promise<Session> {
  const { configuration } = context;
  const { settings } = configuration;
  const { name, issuer, clientId } = requireIdentityProvider(configuration);
  const [id, signInId] = [randomToken(), randomToken()];
  const signIn = {
    id: signInId,
    provider: { name, issuer, clientId },
    identity,
    sessionId: id,
    ...(refreshToken !== undefined && { refreshToken }),
  };
  await options.stores.signIns.create(signIn, settings.cookie.expirationSeconds);
  const session = await createSession({ id, signInId, identity }, settings, options);
  options.audit.write('sign-in-completed', context, { identity, signInId });
  return session;
}

/** Removes the cookies of a finished sign-in: both, if this host is also the target. */
function endedSignIns(
  { authenticateHash, targetHash, targetOrigin }: PendingSignIn,
  { origin }: EndpointContext,
): readonly string[] {
  const hashes = targetOrigin === origin ? [authenticateHash, targetHash] : [authenticateHash];
  return hashes.map((hash) => expiredCookie(origin, signInCookieName(origin, hash)));
}
