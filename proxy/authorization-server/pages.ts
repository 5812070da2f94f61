import type { GatewayResponse } from '../http/gateway-response.ts';
import { html, type Html } from '../http/html.ts';
import { page } from '../pages/layout.ts';
import { requestIdNote } from '../pages/request-id-note.ts';
import { shortened } from '../pages/shortened.ts';
import { userName } from '../pages/user-name.ts';
import type { Identity } from '../records/session.ts';
import type { CompiledRoute } from '../../shared/snapshot/snapshot.ts';
import type { Client } from '../records/client.ts';
import { redirectTarget } from './clients/redirect-uri.ts';
import { PATHS } from '../endpoints/paths.ts';
import type { PendingAuthorization } from '../records/pending-authorization.ts';

/** The values that the consent page shows and its forms post. */
export interface ConsentQuestion {
  readonly requestId: string;
  /** Proves when this browser was shown the page. */
  readonly seal: string;
  readonly pending: PendingAuthorization;
  readonly client: Client;
  readonly identity: Identity;
  /** The MCP route; undefined if it is gone. */
  readonly route: CompiledRoute | undefined;
  /** The page was answered too soon after it was shown. */
  readonly isAgain: boolean;
}

/**
 * Asks the user whether a client may use a route in their name.
 *
 * The client's own metadata are untrusted. The target of the redirect is checked, and therefore emphasized
 * (MCP authorization: the redirect URI's hostname must be clear to see).
 */
export function consentPage(question: ConsentQuestion): GatewayResponse {
  const { pending, client, identity, route, isAgain } = question;
  const { name: target } = redirectTarget(pending.redirectUri);
  const content = html`
    ${isAgain ? TOO_SOON : undefined}
    <p>
      <strong>${displayName(client)}</strong> asks to use the MCP server
      <code>${pending.resource}</code> in your name.
    </p>
    <p>Your answer goes to <strong>${target}</strong>.</p>
    ${redirectWarning(pending.redirectUri)} ${connects(route) ? CONNECTS : undefined}
    <dl>
      <dt>Application</dt>
      <dd>${displayName(client)} (its own words, not checked)</dd>
      ${publisher(client)} ${fact('Redirect URI', pending.redirectUri)}
      ${route && fact('MCP server', route.name)} ${fact('Signed in as', userName(identity))}
      ${pending.scopes.length > 0 ? fact('Scopes', pending.scopes.join(', ')) : undefined}
    </dl>
    ${decisionForm(question, 'approve')} ${decisionForm(question, 'deny')}
  `;
  const onward = connects(route) ? [pending.issuer, ...ONWARD_TARGETS] : [];
  const form = { targets: [...formTargets(pending.redirectUri), ...onward] };
  return page(200, { title: 'Allow this application?', content, form });
}

const TOO_SOON = html`<p class="warning" role="alert">
  Your approval came within a second of this page, so it may have been meant for another one. Read
  this page, and answer again.
</p>`;

/** Returns whether the user may have to connect the server, before the answer goes to the client. */
function connects(route: CompiledRoute | undefined): boolean {
  return route?.mcpServer?.upstreamOAuth !== undefined;
}

const CONNECTS = html`<p>
  This server has sign-in of its own. If you have not connected it yet, you will do so next.
</p>`;

function displayName({ id, metadata: { clientName = id } }: Client): string {
  return shortened(clientName);
}

/** Only a URL as client ID proves the publisher: the metadata were fetched from there. */
function publisher({ id, source }: Client): Html {
  return source === 'metadata-document'
    ? fact('Published by', new URL(id).host)
    : fact('Published by', 'unknown: it registered itself');
}

function redirectWarning(redirectUri: string): Html | undefined {
  const { name, isLoopback } = redirectTarget(redirectUri);
  if (isLoopback) {
    return html`<p class="warning">
      A program on this computer waits for your answer, and any program could. Approve only if you
      have just started this yourself.
    </p>`;
  }
  if (!name.endsWith(':')) return undefined;
  return html`<p class="warning">
    Your answer opens the application on this device that handles <code>${name}</code> links.
    Approve only if you have just started this yourself.
  </p>`;
}

function fact(term: string, description: string): Html {
  return html`<dt>${term}</dt>
    <dd>${description}</dd>`;
}

function decisionForm({ requestId, seal }: ConsentQuestion, decision: 'approve' | 'deny'): Html {
  const button =
    decision === 'approve'
      ? html`<button class="primary">Approve</button>`
      : html`<button>Deny</button>`;
  return html`<form method="post" action="${PATHS.consent}">
    <input type="hidden" name="request" value="${requestId}" />
    <input type="hidden" name="seal" value="${seal}" />
    <input type="hidden" name="decision" value="${decision}" />
    ${button}
  </form>`;
}

/** Targets of redirects that follow: pages of a client or an upstream, or a program on this computer. */
const ONWARD_TARGETS = ['https:', 'http://localhost:*', 'http://127.0.0.1:*'];

/**
 * Returns the CSP sources for the forms. Browsers apply `form-action` to every redirect that follows a
 * posted form, also to those of the client's callback. A host source cannot name an IPv6 address.
 */
function formTargets(redirectUri: string): readonly string[] {
  const { protocol, host, hostname } = new URL(redirectUri);
  if (protocol !== 'https:' && protocol !== 'http:') return [protocol];
  const target = hostname.startsWith('[') ? protocol : `${protocol}//${host}`;
  return [target, ...ONWARD_TARGETS];
}

/** Where the error of a request goes if the user agrees, and the id of the request. */
interface RefusedRequest {
  readonly redirectUri: string;
  /** The redirect URI with the error. */
  readonly location: string;
  readonly requestId: string;
}

/**
 * Shows an error instead of redirecting with it. Attack: anyone can register a website as redirect URI and
 * then use this host as an open redirector (OAuth 2.1, section 7.12.2).
 */
export function authorizationErrorPage(
  description: string,
  { redirectUri, location, requestId }: RefusedRequest,
): GatewayResponse {
  const content = html`
    <p>The application sent a request that cannot be answered: ${description}.</p>
    <p>
      You can go back to the application at <strong>${redirectTarget(redirectUri).name}</strong>,
      which will be told of the error. Do so only if you know that address.
    </p>
    <p><a class="button" href="${location}">Continue to ${redirectTarget(redirectUri).name}</a></p>
    ${requestIdNote(requestId)}
  `;
  return page(400, { title: 'The application’s request is not valid', content });
}
