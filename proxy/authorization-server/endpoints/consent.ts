import { randomToken } from '../../crypto/tokens.ts';
import {
  AuthorizationPageError,
  UnknownClientError,
} from '../../errors/authorization-page-errors.ts';
import {
  AccessDeniedError,
  ConsentRequiredError,
  InteractionRequiredError,
  LoginRequiredError,
  type OAuthError,
} from '../../errors/oauth-errors.ts';
import { BadRequestError } from '../../errors/request-errors.ts';
import { ForbiddenError } from '../../errors/denial-errors.ts';
import { RouteNotFoundError } from '../../errors/routing-errors.ts';
import type { SessionCookieAuthenticator } from '../../authentication/session-cookie-authenticator.ts';
import type { Endpoint, EndpointContext } from '../../endpoints/endpoint.ts';
import { limitUser } from '../../endpoints/limit-rate.ts';
import { requireClick, requireWindow } from '../../endpoints/require-click.ts';
import { continueTrace } from '../../http/carried-trace.ts';
import type { GatewayResponse } from '../../http/gateway-response.ts';
import { readForm } from '../../http/read-form.ts';
import { readParameters } from '../../http/read-parameters.ts';
import { seeOther } from '../../http/responses.ts';
import type { RedirectToSignIn } from '../../identity/sign-in/redirect-to-sign-in.ts';
import { signedInBrowser } from '../../identity/sign-in/signed-in-browser.ts';
import type { GatewayRoute } from '../../configuration/routing-table.ts';
import type { Session } from '../../records/session.ts';
import type { ConsentKey } from '../../records/consent-key.ts';
import type { Stores } from '../../store/stores.ts';
import { errorRedirect } from '../authorization-response.ts';
import { connectFirst, connectionNeeded, type ConnectFirstOptions } from '../connect-first.ts';
import { openConsentForm, sealConsentForm } from '../consent-seal.ts';
import type { Client } from '../../records/client.ts';
import { metadataHash } from '../clients/metadata-hash.ts';
import { matchesRedirectUri } from '../clients/redirect-uri.ts';
import type { AuditLog } from '../../telemetry/audit-log.ts';
import type { Logger } from '../../../shared/telemetry/logger.ts';
import type { FindClient } from '../clients/find-client.ts';
import { keepUsedClient } from '../clients/unused-client-lifetime.ts';
import { PATHS } from '../../endpoints/paths.ts';
import { auditDetails, issueCode } from '../issue-code.ts';
import { consentPage } from '../pages.ts';
import { refuseAuthorization } from '../refuse-authorization.ts';
import { routeOfResource } from '../resources.ts';
import type { PendingAuthorization } from '../../records/pending-authorization.ts';

/** How long a consent is remembered. */
const CONSENT_SECONDS = 90 * 24 * 60 * 60;

/**
 * An approval that arrives sooner after its page was not meant for it. Attack: a page that asks for a double
 * click becomes the consent page between the two clicks.
 */
const MIN_READING_MS = 1000;

/** Options of the consent endpoint. */
export interface ConsentOptions extends ConnectFirstOptions {
  readonly stores: Pick<
    Stores,
    'pendingAuthorizations' | 'consents' | 'authorizationCodes' | 'clients' | 'rateLimits'
  >;
  readonly findClient: FindClient;
  readonly sessionCookies: Pick<SessionCookieAuthenticator, 'callerOf'>;
  readonly redirectToSignIn: RedirectToSignIn;
  readonly audit: AuditLog;
  readonly logger: Logger;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** A pending authorization that a signed-in user decides about. */
interface Question {
  readonly requestId: string;
  readonly pending: PendingAuthorization;
  readonly client: Client;
  /** Undefined if it is gone. */
  readonly route: GatewayRoute | undefined;
  readonly session: Session;
  /** Value of the browser's session cookie. */
  readonly cookie: string;
}

/**
 * The consent page. No client gets a code unless the user has approved it, for this resource and with
 * this redirect URI (MCP security best practices: confused deputy).
 */
export function createConsentEndpoint(options: ConsentOptions): Endpoint {
  return {
    methods: ['GET', 'POST'],
    audience: 'page',
    crossOrigin: false,
    handle: (context) =>
      context.request.method === 'POST' ? decide(context, options) : ask(context, options),
  };
}

async function ask(context: EndpointContext, options: ConsentOptions): Promise<GatewayResponse> {
  requireWindow(context.request);
  const requestId = readParameters(context.request.query).get('request') ?? '';
  const question = await questionOf(requestId, context, options);
  if ('status' in question) return question;
  const missing = await missingFor(question, context, options);
  if (missing === undefined) return approve(question, 'consent-remembered', context, options);
  const { pending, client } = question;
  if (pending.isSilent === true) {
    await use(question, options);
    return refuseAuthorization(missing, { client, target: pending }, context, options.logger);
  }
  return show(question, options);
}

/** Returns why the user has to be asked; undefined if the remembered consent is enough. */
async function missingFor(
  question: Question,
  context: EndpointContext,
  options: ConsentOptions,
): Promise<OAuthError | undefined> {
  if (!(await isApproved(question, options))) return new ConsentRequiredError(SILENT);
  if (question.pending.isSilent !== true) return undefined;
  const needed = await connectionNeeded(question.route, question.session, context, options);
  return needed === undefined ? undefined : new InteractionRequiredError(SILENT);
}

const SILENT = 'the user has to be asked, and prompt=none forbids it';

function show(
  { requestId, pending, client, route, session: { identity }, cookie }: Question,
  { now }: ConsentOptions,
  isAgain = false,
): GatewayResponse {
  const seal = sealConsentForm(cookie, requestId, now());
  return consentPage({
    requestId,
    seal,
    pending,
    client,
    identity,
    route: route?.compiled,
    isAgain,
  });
}

async function decide(context: EndpointContext, options: ConsentOptions): Promise<GatewayResponse> {
  requireClick(context.request, context.origin);
  const form = await readForm(context.request.message);
  const question = await questionOf(form.get('request') ?? '', context, options);
  if ('status' in question) return question;
  const { cookie, requestId } = question;
  const shownAt = openConsentForm(cookie, requestId, form.get('seal') ?? '');
  if (shownAt === null) throw new ForbiddenError('forged-form');
  const decision = form.get('decision');
  if (decision === 'approve') {
    // A clock of another proxy may be ahead: the page that is shown again has the time of this one.
    if (options.now() < shownAt + MIN_READING_MS) return show(question, options, true);
    const response = await approve(question, 'consent-given', context, options);
    await remember(question, options);
    return response;
  }
  if (decision === 'deny') {
    const pending = await use(question, options);
    options.audit.write('consent-denied', context, auditDetails(question));
    return seeOther(errorRedirect(pending, new AccessDeniedError('the user said no')));
  }
  throw new BadRequestError('no-decision', 'the form says neither approve nor deny');
}

/** Returns the question for the user of this browser, or the redirect to sign in. */
async function questionOf(
  requestId: string,
  context: EndpointContext,
  options: ConsentOptions,
): Promise<Question | GatewayResponse> {
  const { authenticateOrigin } = context.configuration.settings;
  const pending = await options.stores.pendingAuthorizations.peek(requestId);
  if (pending === null) throw requestGone();
  refuseOtherOrigin(context.origin, authenticateOrigin ?? pending.issuer);
  continueTrace(context.request, pending);
  const { identityProviders, settings } = context.configuration;
  const route = routeOf(pending, context);
  const identityProvider = route?.compiled.identityProvider;
  // The resource names the route, and the route names the provider: one issuer may have users of several.
  const provider = identityProviders.find(identityProvider);
  const browser = await signedInBrowser(context, provider, options);
  if (browser === undefined && pending.isSilent !== true) {
    const query = new URLSearchParams({ request: requestId }).toString();
    const returnPath = `${PATHS.consent}?${query}`;
    return options.redirectToSignIn(context, { returnPath, provider: identityProvider });
  }
  const client = await options.findClient(pending.issuer, pending.clientId, settings);
  // Checked again: the client may have changed its metadata since the authorization request.
  if (!(client && matchesRedirectUri(pending.redirectUri, client.metadata.redirectUris))) {
    throw new UnknownClientError();
  }
  if (browser === undefined) {
    await use({ requestId }, options);
    const refused = { client, target: pending };
    return refuseAuthorization(new LoginRequiredError(SILENT), refused, context, options.logger);
  }
  return { requestId, pending, client, route, ...browser };
}

/** Attack: on other origins the scripts of an upstream could press the buttons of the consent page. */
function refuseOtherOrigin(origin: string, consentOrigin: string): void {
  if (origin !== consentOrigin) {
    throw new RouteNotFoundError(404, 'this request is decided on another origin');
  }
}

async function isApproved(
  { pending, client, session }: Question,
  { stores }: ConsentOptions,
): Promise<boolean> {
  if (pending.askAgain) return false;
  return stores.consents.isRemembered(consentKey(pending, session), metadataHash(client));
}

async function remember(
  { pending, client, session }: Question,
  { stores }: ConsentOptions,
): Promise<void> {
  if (!isRememberable(pending)) return;
  await stores.consents.remember(
    consentKey(pending, session),
    metadataHash(client),
    CONSENT_SECONDS,
  );
}

/**
 * Returns whether a consent may be remembered. Only the callback of a website certainly belongs to the same
 * client next time: on a computer any program may take the port or the scheme (OAuth 2.1, section 7.4).
 */
function isRememberable({ redirectUri }: PendingAuthorization): boolean {
  return redirectUri.startsWith('https:');
}

function consentKey(pending: PendingAuthorization, { identity }: Session): ConsentKey {
  const { issuer, clientId, redirectUri, resource, scopes } = pending;
  const { provider, issuer: providerIssuer, subject } = identity;
  const user = { provider, providerIssuer, subject };
  return { ...user, issuer, clientId, redirectUri, resource, scopes };
}

/** Gives the client a code. If the user has to connect the server, they do that first. */
async function approve(
  question: Question,
  event: 'consent-given' | 'consent-remembered',
  context: EndpointContext,
  options: ConsentOptions,
): Promise<GatewayResponse> {
  const { client, session } = question;
  const { clients, rateLimits } = options.stores;
  await limitUser(rateLimits, 'approval', session.identity);
  const needed = await connectionNeeded(question.route, session, context, options);
  const pending = await use(question, options);
  await keepUsedClient(clients, pending.issuer, client, context.configuration.settings);
  const approved = { pending, client, session, grantId: randomToken() };
  options.audit.write(event, context, { ...auditDetails(approved), grantId: approved.grantId });
  return needed === undefined
    ? issueCode(approved, context, options)
    : connectFirst(approved, needed, context, options);
}

/** Uses up the request: pressing the button twice gives no second code. */
async function use(
  { requestId }: Pick<Question, 'requestId'>,
  { stores }: ConsentOptions,
): Promise<PendingAuthorization> {
  const pending = await stores.pendingAuthorizations.consume(requestId);
  if (pending === null) throw requestGone();
  return pending;
}

function requestGone(): AuthorizationPageError {
  return new AuthorizationPageError(
    'authorization-request-gone',
    'This request was answered before, or has waited too long. Start again from your application.',
  );
}

/** Returns the route of the requested resource; undefined if it is gone. */
function routeOf(
  { issuer, resource }: PendingAuthorization,
  { configuration }: EndpointContext,
): GatewayRoute | undefined {
  const host = configuration.routes.findHost(new URL(issuer).host);
  return host && routeOfResource(resource, { host, origin: issuer });
}
