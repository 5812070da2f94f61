import { isNearEnd } from '../../authentication/application-token-times.ts';
import { hashToken, randomToken } from '../../crypto/tokens.ts';
import { SignInFailedError } from '../../errors/authentication-errors.ts';
import type { Endpoint, EndpointContext } from '../../endpoints/endpoint.ts';
import { limitNetwork } from '../../endpoints/limit-rate.ts';
import { refuseSubresource } from '../../endpoints/refuse-subresource.ts';
import { carriedTrace, continueTrace } from '../../http/carried-trace.ts';
import { bindBrowser } from '../../http/browser-binding.ts';
import type { GatewayResponse } from '../../http/gateway-response.ts';
import { networksOf } from '../../http/network-of.ts';
import { seeOther, withCookies } from '../../http/responses.ts';
import { readParameters } from '../../http/read-parameters.ts';
import { isSignInTarget } from './authenticate-host.ts';
import { callbackPath } from './callback-path.ts';
import { finishSignIn } from './finish-sign-in.ts';
import { authorizationUrl } from '../../identity-provider/identity-provider.ts';
import { providerFailure } from '../../identity-provider/provider-failure.ts';
import { notSignedInPage } from './pages.ts';
import { redirectToSignIn } from './redirect-to-sign-in.ts';
import {
  requireIdentityProvider,
  type SignInProvider,
} from '../../identity-provider/require-identity-provider.ts';
import { openSignInRequest, type SignInRequest } from './sign-in-request.ts';
import type { SignInOptions } from './sign-in-options.ts';
import { signedInBrowser } from './signed-in-browser.ts';
import { startPage } from './start-page.ts';

/** How long a user may take at the identity provider. */
const PENDING_LIFETIME_SECONDS = 30 * 60;

/** Limit per network. Attack: replaying one sealed request must not evict the sign-ins of others. */
const REQUESTS = { limit: 1000, windowSeconds: 60 };

/**
 * `GET /.gateway/sign_in`: accepts the sign-in request of a route host. A user who is signed in here
 * returns at once; any other user goes to the identity provider. Without a request it makes one.
 */
export function createSignInEndpoint(options: SignInOptions): Endpoint {
  return {
    methods: ['GET'],
    audience: 'page',
    crossOrigin: false,
    handle: (context) => signIn(context, options),
  };
}

async function signIn(context: EndpointContext, options: SignInOptions): Promise<GatewayResponse> {
  const sealed = readParameters(context.request.query).getAll('request');
  if (sealed.length === 0) return signInAtStartPage(context, options);
  const request = openRequest(sealed, context, options);
  continueTrace(context.request, request);
  const provider = requireIdentityProvider(
    request.provider,
    context.configuration.identityProviders,
  );
  refuseSubresource(context.request);
  // The next steps store a pending sign-in, or a code for the target.
  await limitNetwork(options.stores.rateLimits, 'sign-in', context.request, REQUESTS);
  const browser = await signedInBrowser(context, provider, options);
  // A session that an application could not use any more would lead back here.
  const isUsable = browser !== undefined && !isNearEnd(browser.session, options.now());
  if (isUsable) return finishSignIn(browser.session, request, context, options);
  return redirectToProvider(request, provider, context, options);
}

function signInAtStartPage(context: EndpointContext, options: SignInOptions): GatewayResponse {
  const wanted = startPage(context);
  return wanted === undefined ? notSignedInPage(false) : redirectToSignIn(context, wanted, options);
}

function openRequest(
  sealed: readonly string[],
  context: EndpointContext,
  { sealer, now }: SignInOptions,
): SignInRequest {
  const request = openSignInRequest(sealed.join(), context.origin, sealer);
  if (request === null) {
    const message = sealer.isOfUnknownKey(sealed.join())
      ? 'unknown-sealing-key: the key that sealed the request is not among the sealing keys'
      : 'the request was not sealed for this host';
    throw new SignInFailedError('invalid-sign-in-request', message);
  }
  // Attack: open redirector. A host that lost its last Route may belong to somebody else now.
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

async function redirectToProvider(
  { targetOrigin, returnPath, targetHash }: SignInRequest,
  provider: SignInProvider,
  { origin, cookies, request }: EndpointContext,
  { stores, discovery }: SignInOptions,
): Promise<GatewayResponse> {
  const secrets = { state: randomToken(), nonce: randomToken(), codeVerifier: randomToken() };
  const redirectUri = origin + callbackPath(provider);
  const url = await authorizationUrl(provider, discovery, redirectUri, secrets).catch(
    (error: unknown) => {
      throw providerFailure(error, targetOrigin + returnPath);
    },
  );
  const { hash, setCookies } = bindBrowser(origin, cookies, 'sign-in');
  const { nonce, codeVerifier } = secrets;
  const { name, issuer } = provider;
  const pending = { targetOrigin, returnPath, targetHash, provider: name, issuer, nonce };
  await stores.pendingSignIns.save(
    hashToken(secrets.state),
    { ...pending, authenticateHash: hash, codeVerifier, ...carriedTrace(request) },
    PENDING_LIFETIME_SECONDS,
    networksOf(request.remoteAddress).endSite,
  );
  return withCookies(seeOther(url), setCookies);
}
