import { hashToken, randomToken } from '../../crypto/tokens.ts';
import { SignInFailedError } from '../../errors/authentication-errors.ts';
import { carriedTrace, continueTrace } from '../../http/carried-trace.ts';
import { endBinding, isBoundBrowser } from '../../http/browser-binding.ts';
import { limitUser } from '../../endpoints/limit-rate.ts';
import type { EndpointContext } from '../../endpoints/endpoint.ts';
import type { GatewayResponse } from '../../http/gateway-response.ts';
import { callbackPath } from './callback-path.ts';
import { isSignInTarget } from './authenticate-host.ts';
import { beginBrowserSession } from './begin-browser-session.ts';
import { createSession } from '../session/create-session.ts';
import { listSignIn } from '../session/listed-sign-ins.ts';
import { withCookies } from '../../http/responses.ts';
import { consumeChecked } from '../../store/consume-checked.ts';
import { finishSignIn } from './finish-sign-in.ts';
import { identify } from '../../identity-provider/identity-provider.ts';
import { providerFailure, unusableClaims } from '../../identity-provider/provider-failure.ts';
import {
  isSignInProvider,
  type SignInProvider,
} from '../../identity-provider/require-identity-provider.ts';
import type { Identity, Session } from '../../records/session.ts';
import type { PendingSignIn } from '../../records/pending-sign-in.ts';
import type { SignInOptions } from './sign-in-options.ts';

/** A user who signed in, and what asks the provider about the user later. */
interface SignedInUser {
  readonly identity: Identity;
  readonly refreshToken?: string;
  readonly accessToken?: string;
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
  const provider = providerOf(pending, context);
  const answer = await askProvider(provider, pending, { state, context, options });
  await limitUser(options.stores.rateLimits, 'sign-in', answer.identity);
  const session = await beginSession(answer, provider, context, options);
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
    const { origin, cookies, request } = context;
    if (!isBoundBrowser(origin, cookies, 'sign-in', found.authenticateHash)) {
      throw new SignInFailedError('other-browser', 'the sign-in was begun in another browser');
    }
    continueTrace(request, found);
  });
  if (pending === null) {
    throw new SignInFailedError('unknown-state', 'the state is unknown, expired or used');
  }
  if (!isSignInTarget(pending.targetOrigin, context)) {
    throw new SignInFailedError('unknown-target', 'no live route signs users in at the target');
  }
  return pending;
}

/**
 * Returns the provider at which a sign-in began. Attack: mix-up (RFC 9700, section 4.4). A code is sent only
 * to the provider that issued it, so the answer must be at the redirect URI of this one.
 */
function providerOf(
  { provider: name, issuer, targetOrigin, returnPath }: PendingSignIn,
  { configuration, request }: EndpointContext,
): SignInProvider {
  const provider = configuration.identityProviders.find(name);
  const isSame = provider !== undefined && provider.issuer === issuer;
  if (isSame && isSignInProvider(provider) && request.path === callbackPath(provider)) {
    return provider;
  }
  const message = 'the answer is not of the identity provider of the sign-in, or that has changed';
  const startAgainUrl = targetOrigin + returnPath;
  throw new SignInFailedError('other-provider', message, { startAgainUrl });
}

interface ReceivedAnswer {
  readonly state: string;
  readonly context: EndpointContext;
  readonly options: SignInOptions;
}

async function askProvider(
  provider: SignInProvider,
  pending: PendingSignIn,
  { state, context: { origin, request }, options: { discovery } }: ReceivedAnswer,
): Promise<SignedInUser> {
  const startAgainUrl = pending.targetOrigin + pending.returnPath;
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
  { identity, ...tokens }: SignedInUser,
  { name, issuer, clientId }: SignInProvider,
  context: EndpointContext,
  options: SignInOptions,
): Promise<Session> {
  const { settings } = context.configuration;
  const [id, signInId] = [randomToken(), randomToken()];
  const signIn = {
    id: signInId,
    provider: { name, issuer, clientId },
    identity,
    createdAt: options.now(),
    sessionId: id,
    ...tokens,
  };
  const { expirationSeconds } = settings.cookie;
  await listSignIn({ identity, signInId }, options.stores, expirationSeconds);
  await options.stores.signIns.create(signIn, expirationSeconds);
  const { trace: signInTrace } = carriedTrace(context.request);
  const traced = signInTrace === undefined ? {} : { signInTrace };
  const session = await createSession({ id, signInId, identity, ...traced }, settings, options);
  options.audit.write('sign-in-completed', context, { identity, signInId });
  return session;
}

/** Removes the cookies of a finished sign-in: both, if this host is also the target. */
function endedSignIns(
  { authenticateHash, targetHash, targetOrigin }: PendingSignIn,
  { origin }: EndpointContext,
): readonly string[] {
  const hashes = targetOrigin === origin ? [authenticateHash, targetHash] : [authenticateHash];
  return hashes.map((hash) => endBinding(origin, 'sign-in', hash));
}
