import { hashToken, randomToken } from '../../crypto/tokens.ts';
import { SignInFailedError, TooManyRequestsError } from '../../errors/request-errors.ts';
import { sessionCookieName } from '../../http/cookies.ts';
import type { EndpointContext } from '../../endpoints/endpoint.ts';
import type { GatewayResponse } from '../../http/gateway-response.ts';
import { networkOf } from '../../http/network-of.ts';
import { seeOther } from '../../http/responses.ts';
import { isSignInTarget } from './authenticate-host.ts';
import { finishSignIn, withCookies } from './finish-sign-in.ts';
import { authorizationUrl } from '../provider/identity-provider.ts';
import { bindBrowser } from './login-cookies.ts';
import { providerFailure } from '../provider/provider-failure.ts';
import { redirectToSignIn } from './redirect-to-sign-in.ts';
import { requireIdentityProvider } from '../provider/require-identity-provider.ts';
import type { Session } from '../../records/session.ts';
import { SIGN_IN_PATHS } from '../../endpoints/sign-in-paths.ts';
import { openSignInRequest, type SignInRequest } from './sign-in-request.ts';
import type { SignInServices } from './sign-in-services.ts';

/** How long a user may take at the identity provider. */
const PENDING_LIFETIME_SECONDS = 30 * 60;

/** Per network: one sealed request, replayed, must not push the sign-ins of others out of the store. */
const REQUESTS = { limit: 1000, windowSeconds: 60 };

/**
 * `GET /.gateway/sign_in`: takes a route host's request. Whoever is signed in here goes straight
 * back, everybody else to the identity provider. Without a request it begins one.
 */
export async function signIn(
  context: EndpointContext,
  services: SignInServices,
): Promise<GatewayResponse> {
  const sealed = new URLSearchParams(context.request.query).getAll('request');
  if (sealed.length === 0) return redirectToSignIn(context, startPage(context), services);
  const request = openRequest(sealed, context, services);
  await countRequest(context, services);
  const session = await currentSession(context, services);
  if (session !== undefined) return finishSignIn(session, request, context, services);
  return redirectToProvider(request, context, services);
}

/** Where a sign-in leads that was begun for its own sake. */
function startPage({ origin, configuration }: EndpointContext): string {
  return origin === configuration.settings.authenticateOrigin ? '/.gateway/' : '/';
}

function openRequest(
  sealed: readonly string[],
  context: EndpointContext,
  { sealer, now }: SignInServices,
): SignInRequest {
  const request = openSignInRequest(sealed.join(), context.origin, sealer);
  if (request === null) {
    throw new SignInFailedError(
      'invalid-sign-in-request',
      'the request was not sealed for this host',
    );
  }
  // Open redirector: a host that no Route has any more may be somebody else's by now.
  if (!isSignInTarget(request.targetOrigin, context)) {
    throw new SignInFailedError('unknown-target', 'no live route signs users in at the target');
  }
  if (request.expiresAt <= now()) {
    const startAgainUrl = request.targetOrigin + request.returnPath;
    throw new SignInFailedError('expired-sign-in-request', 'the request expired', {
      startAgainUrl,
    });
  }
  return request;
}

/** Whatever follows is stored: a sign-in under way, or a code for the target. */
async function countRequest(
  { request }: EndpointContext,
  { stores }: SignInServices,
): Promise<void> {
  const network = networkOf(request.remoteAddress);
  const secondsToWait = await stores.rateLimits.take(`sign-in:${network}`, REQUESTS);
  if (secondsToWait > 0) throw new TooManyRequestsError(secondsToWait);
}

async function currentSession(
  { cookies, origin }: EndpointContext,
  { sessionCookies: browsers }: SignInServices,
): Promise<Session | undefined> {
  const cookie = cookies[sessionCookieName(origin)];
  if (cookie === undefined) return undefined;
  const caller = await browsers.callerOf(cookie, origin);
  return caller?.kind === 'user' ? caller.session : undefined;
}

async function redirectToProvider(
  { targetOrigin, returnPath, preLoginHash }: SignInRequest,
  { origin, configuration, cookies }: EndpointContext,
  { stores, discovery }: SignInServices,
): Promise<GatewayResponse> {
  const provider = requireIdentityProvider(configuration);
  const secrets = { state: randomToken(), nonce: randomToken(), codeVerifier: randomToken() };
  const redirectUri = origin + SIGN_IN_PATHS.callback;
  const url = await authorizationUrl(provider, discovery, redirectUri, secrets).catch(
    (error: unknown) => {
      throw providerFailure(error, targetOrigin + returnPath);
    },
  );
  const { hash, setCookies } = bindBrowser(origin, cookies);
  const { nonce, codeVerifier } = secrets;
  const pending = { targetOrigin, returnPath, preLoginHash, provider: provider.name, nonce };
  await stores.pendingSignIns.save(
    hashToken(secrets.state),
    { ...pending, browserHash: hash, codeVerifier },
    PENDING_LIFETIME_SECONDS,
  );
  return withCookies(seeOther(url), setCookies);
}
